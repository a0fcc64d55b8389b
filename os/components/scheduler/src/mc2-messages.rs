//! The root scheduler that decides by MC² without locks, for a study.
#![no_std]
#![no_main]

extern crate alloc;

mod root;

/// Who decides.
type Decider = tactus_policy::programs::Mc2Messages;
