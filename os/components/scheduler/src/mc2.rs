//! The root scheduler that decides by mixed criticality on multicore.
#![no_std]
#![no_main]

extern crate alloc;

mod root;

/// Who decides.
type Decider = tactus_policy::programs::MixedCriticalityOnMulticore;
