//! Reads 512 KiB ten times in each job, half of a shared cache of a megabyte, a millisecond apart, and stalls each time for as long as
//! memory would take with the lines that came from there. Tells how many those were.
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

/// From reading to reading, without stalls.
const PAUSE: Duration = Duration::from_millis(1);
/// What a line from memory takes.
const COST: Duration = Duration::from_nanos(200);

fn read(job: &Job) {
    let mut counters = own();
    let counters = counters.counters();
    let counts = counters.configure(0, Event::SharedMisses).and_then(|()| counters.start(0)).is_ok();
    let mut before = 0;
    for _ in 0..10 {
        let sum: u64 = core::hint::black_box(&LINES).iter().map(|line| line.0.load(Relaxed)).sum();
        assert_eq!(sum, 8192);
        let now = if counts { counters.read(0).unwrap_or(0) } else { 0 };
        let until = clock::now().saturating_add(PAUSE + COST * (now - before));
        before = now;
        while clock::now() < until {
            // The emulator's cores take turns; this ends one.
            core::hint::spin_loop();
        }
    }
    let _ = writeln!(Screen, "job {}: {before} lines from memory", job.number());
}
