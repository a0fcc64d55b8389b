//! Has a main VCPU of 20 ms in 50 ms, and always something to do.
#![no_std]
#![no_main]

use parts::{enter, Meter, MILLISECOND};
use tactus_rt::Caller;

tactus_rt::component! { thread: begin, services: [worked] }

static METER: Meter = Meter::new();

fn begin(_: [u64; 2]) {
    if enter(20 * MILLISECOND, 50 * MILLISECOND).is_some() {
        METER.work(u64::MAX);
    }
}

/// `() -> nanoseconds worked`.
fn worked(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [METER.nanos(), 0]
}
