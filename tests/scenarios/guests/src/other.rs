//! Another program than `steady`: longer, with segments elsewhere, and it says what it finds there.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::{Console, Job};

tactus_rt::component! { job: work, services: [] }

/// More than two pages.
static TABLE: [u64; 1100] = {
    let mut table = [0; 1100];
    let mut n = 0;
    while n < table.len() {
        table[n] = n as u64 * n as u64;
        n += 1;
    }
    table
};
static NEXT: AtomicU64 = AtomicU64::new(1099);

fn work(_: &Job) {
    let place = NEXT.load(Relaxed);
    if place == 1099 {
        let _ = writeln!(Console, "other has {}", TABLE[place as usize]);
    }
    NEXT.store(place.saturating_sub(1), Relaxed);
    assert!(TABLE[place as usize] == place * place);
}
