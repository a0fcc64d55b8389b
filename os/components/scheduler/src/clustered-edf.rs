//! The root scheduler that decides by the earlier deadline first, on any core or inside a cluster.
#![no_std]
#![no_main]

tactus_sched::root_scheduler! { tactus_policy::programs::ClusteredEdf }
