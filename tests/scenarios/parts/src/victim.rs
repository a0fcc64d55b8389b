//! Reads 64 KiB in each job, which its core's own caches do not hold, and tells how many lines came from memory.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::counters::{own, Event};
use tactus_rt::{Job, Screen};

tactus_rt::component! { job: read, services: [] }

/// A line of a cache each.
#[repr(align(64))]
struct Line(AtomicU64);

static LINES: [Line; 1024] = [const { Line(AtomicU64::new(1)) }; 1024];

fn read(job: &Job) {
    let mut counters = own();
    let counters = counters.counters();
    let begun = counters.configure(0, Event::SharedMisses).and_then(|()| counters.start(0));
    let sum: u64 = core::hint::black_box(&LINES).iter().map(|line| line.0.load(Relaxed)).sum();
    let missed = begun.and_then(|()| counters.read(0)).unwrap_or(u64::MAX);
    assert_eq!(sum, 1024);
    let _ = writeln!(Screen, "job {}: {missed} lines from memory", job.number());
}
