//! Says once that it is here, and how many of its jobs there were before: none, however often it is loaded; and once for each of its tasks
//! which one it is. Then it computes.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::time::Duration;
use tactus_rt::{Console, Job};

tactus_rt::component! { job: count, services: [] }

/// What the program is written with.
static WRITTEN: AtomicU64 = AtomicU64::new(41);
/// Zeros behind it.
static JOBS: AtomicU64 = AtomicU64::new(0);
/// The tasks that have had a job, as bits.
static TASKS: AtomicU64 = AtomicU64::new(0);

fn count(job: &Job) {
    if WRITTEN.swap(42, Relaxed) == 41 {
        let _ = writeln!(Console, "steady after {}", JOBS.load(Relaxed));
    }
    if TASKS.fetch_or(1 << job.index(), Relaxed) & 1 << job.index() == 0 {
        let _ = writeln!(Console, "steady has task {}", job.index());
    }
    JOBS.fetch_add(1, Relaxed);
    while job.charged() < Duration::from_micros(200) {
        core::hint::spin_loop();
    }
}
