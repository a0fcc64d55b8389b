//! The component whose program is in `partition.c`.
#![no_std]
#![no_main]

tactus_rt::apex_c_partition!();
