//! The tests of this crate in one program: `--test all NAME::` runs those of one file. A program for each takes minutes to compile.

mod common;
mod merge;

mod book;
mod chains;
mod check;
mod damage;
mod disks;
mod draw;
mod file;
mod inter_core;
mod judge;
mod litmus;
mod mailboxes;
mod monitors;
mod perfetto;
