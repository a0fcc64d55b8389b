//! The root scheduler that decides by the larger priority first, on each core by itself.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_policy::programs::PartitionedFp }
