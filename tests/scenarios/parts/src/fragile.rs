//! A service that faults in every third call of its life.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::Caller;

tactus_rt::component! { services: [ask] }

static CALLS: AtomicU64 = AtomicU64::new(0);

fn ask(_: Caller, _: [u64; 5]) -> [u64; 2] {
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    assert!(call < 2);
    [call, 0]
}
