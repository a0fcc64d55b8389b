//! The tests of this crate in one program: `--test all NAME::` runs those of one file. A program for each takes minutes to compile.

#![allow(mixed_script_confusables, confusable_idents)]

mod common;
mod one;
mod servers;

mod assignment;
mod attacks;
mod blocking;
mod caches;
mod changes;
mod disks;
mod explain;
mod features;
mod global;
mod global_families;
mod mast;
mod mixed_criticality;
mod models;
mod necessary;
mod one_core_offsets_and_nonpreemptive;
mod orders;
mod promises;
mod pycpa;
mod quest_v;
mod requests;
mod reservations;
mod semi_partitioned;
mod sensitivity;
mod streams;
mod systems;
mod trees;
mod uniprocessor;
