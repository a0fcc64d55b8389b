//! Reads memory that it does not have, at an address that tells when.
#![no_std]
#![no_main]

use tactus_rt::clock::time_stamp;
use tactus_rt::Job;

tactus_rt::component! { job: fault, services: [] }

/// Added to the time: far above everything that a component has.
const NOWHERE: u64 = 1 << 46;

fn fault(_: &Job) {
    let at = time_stamp() | NOWHERE;
    // Never completes: no component has memory there, and the kernel stops this one.
    tactus_rt::hostile::read_anywhere(at);
}
