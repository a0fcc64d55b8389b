//! The root scheduler that decides by MC² with fine locks, where core 0 serves all releases and merges timers.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_mc2_variants::Merged }
