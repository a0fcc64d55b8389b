//! The root scheduler that decides by two levels of criticality with a mode.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_policy::programs::Mixed }
