//! Has a main VCPU of 10 ms in 40 ms, and always something to do; it is whom the disk works for.
#![no_std]
#![no_main]

use parts::{enter, Meter, MILLISECOND};
use tactus_rt::{grant, Caller};

tactus_rt::component! { thread: begin, services: [worked] }

static METER: Meter = Meter::new();

fn begin(_: [u64; 2]) {
    let Some(vcpu) = enter(10 * MILLISECOND, 40 * MILLISECOND) else { return };
    if matches!(grant("request").call([vcpu, 0, 0, 0, 0]), Ok([_, 0])) {
        METER.work(u64::MAX);
    }
}

/// `() -> nanoseconds worked`.
fn worked(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [METER.nanos(), 0]
}
