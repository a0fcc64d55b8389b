//! Reads 512 KiB ten times in each job, half of a shared cache of a megabyte, a millisecond apart, and stalls each time for as long as
//! memory would take with the lines that came from there. Tells how many those were.
#![no_std]
#![no_main]

mod half;

use core::fmt::Write;
use half::COST;
use tactus_rt::counters::{own, Event};
use tactus_rt::time::Duration;
use tactus_rt::{clock, Job, Screen};

tactus_rt::component! { job: read, services: [] }

/// From reading to reading, without stalls.
const PAUSE: Duration = Duration::from_millis(1);

fn read(job: &Job) {
    let mut counters = own();
    let counters = counters.counters();
    let counts = counters.configure(0, Event::SharedMisses).and_then(|()| counters.start(0)).is_ok();
    let mut before = 0;
    for _ in 0..10 {
        half::read();
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
