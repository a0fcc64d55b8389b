//! The structures that policies are made of: queues of ready tasks, which one core owns, and a row of cores' numbers for
//! whoever holds a lock over all cores.
//!
//! What stands here is what the kernel's scheduler components and the simulator run, without a line changed; the laboratory
//! (`lab/structures`) compares it with others. Room is made once, when a structure is set up; nothing is allocated after that.
//!
//! Each structure has a number as a parameter, `BUG`, which is [`planted::NONE`] unless a test plants a bug to show that
//! it is found. The compiler leaves nothing of it in a sound structure.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod directory;
mod flaw;
pub mod planted;
pub mod queue;

pub use flaw::{same, Flaw};
