//! Makes the one brand that it may make, wires it to its core's tick, and faults, in each life anew. If the kernel refuses
//! what a first life may do, it gives up instead.
#![no_std]
#![no_main]

use tactus_rt::abi::call::{source, BrandOperation};
use tactus_rt::{calls, Error, Job};

tactus_rt::component! { job: work, services: [] }

/// Length of the tick (microseconds).
const TICK: u64 = 1000;

fn work(_: &Job) {
    let made = calls::brand_control(BrandOperation::Create, 0, 1);
    let wired = made.and_then(|brand| calls::brand_control(BrandOperation::Wire, brand, source::TICK | TICK << 8));
    let more = calls::brand_control(BrandOperation::Create, 0, 1);
    if wired.is_err() || more != Err(Error::Exhausted) {
        calls::give_up();
    }
    // SAFETY: none: this is the fault that the scenario is about.
    unsafe { (0x10 as *mut u64).write_volatile(1) };
}
