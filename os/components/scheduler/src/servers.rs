//! The root scheduler that decides by any order of tasks inside any servers.
#![no_std]
#![no_main]

extern crate alloc;

mod root;

/// Who decides.
type Decider = tactus_policy::programs::Trees;
