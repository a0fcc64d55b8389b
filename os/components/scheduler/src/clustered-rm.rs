//! The root scheduler that decides by the shorter period first, on any core or inside a cluster.
#![no_std]
#![no_main]

extern crate alloc;

mod root;

/// Who decides.
type Decider = tactus_policy::programs::ClusteredRm;
