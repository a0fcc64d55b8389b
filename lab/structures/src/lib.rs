//! Structures that are compared with those of policies: queues of ready tasks, which one core owns, and directories of cores,
//! which all cores share.
//!
//! Those that policies use come from `tactus-structures`: the rig drives, checks and measures the same files. Atomics and locks come
//! from `tactus_sync::facade`, so that model checkers see the same files too. Room is made once, when a structure is set up; nothing is
//! allocated after that.
//!
//! Each structure has a number as a parameter, `BUG`, which is [`planted::NONE`] unless a test plants a bug to show that
//! it is found. The compiler leaves nothing of it in a sound structure.
#![cfg_attr(not(any(loom, shuttle)), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod cores;
pub mod directory;
pub mod planted;
pub mod queue;

pub use cores::{Cores, CORES};
pub use tactus_structures::{same, Flaw};
