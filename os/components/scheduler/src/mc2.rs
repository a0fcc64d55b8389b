//! The root scheduler that decides by mixed criticality on multicore.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_policy::programs::MixedCriticalityOnMulticore }
