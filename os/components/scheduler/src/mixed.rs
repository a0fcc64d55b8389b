//! The root scheduler that decides by two levels of criticality with a mode.
#![no_std]
#![no_main]

extern crate alloc;

mod root;

/// Who decides.
type Decider = tactus_policy::programs::Mixed;
