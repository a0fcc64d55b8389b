//! Two tasks on two cores. The first reads 256 lines and writes each third of them; the second sweeps over the same lines, writing and
//! reading, and from its sixth job on over lines of its own.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: work, services: [] }

/// A line of a cache each.
#[repr(align(64))]
struct Line(AtomicU64);

static COMMON: [Line; 256] = [const { Line(AtomicU64::new(0)) }; 256];
static OWN: [Line; 256] = [const { Line(AtomicU64::new(0)) }; 256];

fn work(job: &Job) {
    if job.task() == 0 {
        for (n, line) in core::hint::black_box(&COMMON).iter().enumerate() {
            let value = line.0.load(Relaxed);
            if n % 3 == 0 {
                line.0.store(value + 1, Relaxed);
            }
        }
        return;
    }
    let lines = if job.number() < 5 { &COMMON } else { &OWN };
    while job.charged() < Duration::from_millis(9) {
        for line in core::hint::black_box(lines) {
            line.0.store(job.number(), Relaxed);
            core::hint::black_box(line.0.load(Relaxed));
        }
    }
}
