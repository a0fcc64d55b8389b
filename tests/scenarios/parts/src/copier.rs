//! Sweeps more memory than the shared cache holds, at the rate of a memory that takes 100 ns for a line.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::{clock, Job};

tactus_rt::component! { job: sweep, services: [] }

/// A line of a cache each: a quarter more than the megabyte of the shared level.
#[repr(align(64))]
struct Line(AtomicU64);

static LINES: [Line; 20 << 10] = [const { Line(AtomicU64::new(0)) }; 20 << 10];

fn sweep(job: &Job) {
    for line in core::hint::black_box(&LINES) {
        // The emulated machine's counter counts nanoseconds.
        let until = clock::time_stamp() + 100;
        line.0.store(job.number(), Relaxed);
        while clock::time_stamp() < until {}
    }
}
