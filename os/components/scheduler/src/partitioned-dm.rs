//! The root scheduler that decides by the shorter relative deadline first, on each core by itself.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_policy::programs::PartitionedDm }
