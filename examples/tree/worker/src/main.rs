//! Works as long as it is let, and counts how long that is. With a grant `create`, on the second core instead of the first.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::clock::{ticks_to_nanos, time_stamp};
use tactus_rt::{grant, info, Caller};

tactus_rt::component! { thread: work, services: [worked] }

/// What it has had of the core (ticks).
static HAD: AtomicU64 = AtomicU64::new(0);
/// Readings with a larger distance than this have somebody else's time between them (ticks).
const GAP: u64 = 1_000;

fn work([number, _]: [u64; 2]) {
    let create = grant("create");
    // Core 1.
    if number == 0 && create.call([info().component.into(), 2 << 24, 1, 0, 0]).is_ok() {
        let _ = grant("block").call([0; 5]);
    }
    let mut last = time_stamp();
    loop {
        let now = time_stamp();
        if now - last < GAP {
            HAD.fetch_add(now - last, Ordering::Relaxed);
        }
        last = now;
    }
}

/// `() -> nanoseconds worked`.
fn worked(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [ticks_to_nanos(HAD.load(Ordering::Relaxed)), 0]
}
