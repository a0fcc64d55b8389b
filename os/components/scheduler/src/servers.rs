//! The root scheduler that decides by any order of tasks inside any servers.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_policy::programs::Trees, processes, slots }
