//! The root scheduler that decides by the shorter period first, on each core by itself.
#![no_std]
#![no_main]

extern crate alloc;

mod root;

/// Who decides.
type Decider = tactus_policy::programs::PartitionedRm;
