//! The root scheduler that decides by MC² with fine locks, where each core serves releases.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_mc2_variants::Basic }
