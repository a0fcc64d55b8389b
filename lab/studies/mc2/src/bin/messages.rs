//! The root scheduler that decides by MC² with messages and no lock.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_mc2_variants::Messages }
