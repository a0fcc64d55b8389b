//! Sweeps more memory than the shared cache holds, at the rate of a memory that takes 100 ns for a line.
#![no_std]
#![no_main]

mod lines;

use core::sync::atomic::Ordering::Relaxed;
use lines::LINES;
use tactus_rt::{clock, Job};

tactus_rt::component! { job: sweep, services: [] }

fn sweep(job: &Job) {
    for line in core::hint::black_box(&LINES) {
        // The emulated machine's counter counts nanoseconds.
        let until = clock::time_stamp() + 100;
        line.0.store(job.number(), Relaxed);
        while clock::time_stamp() < until {}
    }
}
