//! A service that remembers the last number that it was told.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::Caller;

tactus_rt::component! { services: [write] }

static LAST: AtomicU64 = AtomicU64::new(0);

fn write(_: Caller, words: [u64; 5]) -> [u64; 2] {
    [LAST.swap(words[0], Ordering::Relaxed), 0]
}
