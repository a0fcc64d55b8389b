//! Is bound to no VCPU, and takes what is left.
#![no_std]
#![no_main]

use parts::Meter;
use tactus_rt::Caller;

tactus_rt::component! { thread: begin, services: [worked] }

static METER: Meter = Meter::new();

fn begin(_: [u64; 2]) {
    METER.work(u64::MAX);
}

/// `() -> nanoseconds worked`.
fn worked(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [METER.nanos(), 0]
}
