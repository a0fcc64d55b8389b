//! Reads 512 KiB in each job, half of a shared cache of a megabyte, and stalls for as long as memory would take with the lines that come
//! from there. The first job brings them in and does not stall. Tells how many lines came from memory.
#![no_std]
#![no_main]

mod half;

use core::fmt::Write;
use half::COST;
use tactus_rt::counters::{own, Event};
use tactus_rt::{clock, Job, Screen};

tactus_rt::component! { job: read, services: [] }

fn read(job: &Job) {
    let mut counters = own();
    let counters = counters.counters();
    let begun = counters.configure(0, Event::SharedMisses).and_then(|()| counters.start(0));
    half::read();
    let missed = begun.and_then(|()| counters.read(0)).unwrap_or(0);
    if job.number() > 0 {
        let until = clock::now().saturating_add(COST * missed);
        while clock::now() < until {}
    }
    let _ = writeln!(Screen, "job {}: {missed} lines from memory", job.number());
}
