//! A light that goes on and off twice as fast as that of version 1, and counts.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::{Console, Job};

tactus_rt::component! { job: flash, services: [] }

/// How often it went on. Each load begins with zero: nothing of another program is left in the slot's memory.
static COUNT: AtomicU64 = AtomicU64::new(0);

fn flash(job: &Job) {
    if job.number() % 2 == 0 {
        let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        let _ = writeln!(Console, "blink 2: on, {count} times");
    } else {
        let _ = writeln!(Console, "blink 2: off");
    }
}
