//! Sweeps more memory than the shared cache holds, at full rate.
#![no_std]
#![no_main]

mod lines;

use core::sync::atomic::Ordering::Relaxed;
use lines::LINES;
use tactus_rt::Job;

tactus_rt::component! { job: sweep, services: [] }

fn sweep(job: &Job) {
    for _ in 0..4 {
        for line in core::hint::black_box(&LINES) {
            line.0.store(job.number(), Relaxed);
        }
    }
}
