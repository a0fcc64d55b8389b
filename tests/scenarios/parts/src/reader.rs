//! Reads 512 KiB in each job, half of a shared cache of a megabyte, and stalls for as long as memory would take with the lines that come
//! from there. The first job brings them in and does not stall. Tells how many lines came from memory.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::counters::{own, Event};
use tactus_rt::time::Duration;
use tactus_rt::{clock, Job, Screen};

tactus_rt::component! { job: read, services: [] }

/// A line of a cache each.
#[repr(align(64))]
struct Line(AtomicU64);

static LINES: [Line; 8192] = [const { Line(AtomicU64::new(1)) }; 8192];

/// What a line from memory takes, as `miss-cost` in the system file.
const COST: Duration = Duration::from_nanos(200);

fn read(job: &Job) {
    let mut counters = own();
    let counters = counters.counters();
    let begun = counters.configure(0, Event::SharedMisses).and_then(|()| counters.start(0));
    let sum: u64 = core::hint::black_box(&LINES).iter().map(|line| line.0.load(Relaxed)).sum();
    let missed = begun.and_then(|()| counters.read(0)).unwrap_or(0);
    assert_eq!(sum, 8192);
    if job.number() > 0 {
        let until = clock::now().saturating_add(COST * missed);
        while clock::now() < until {}
    }
    let _ = writeln!(Screen, "job {}: {missed} lines from memory", job.number());
}
