//! Takes each reading of the sensor to the estimator. A high precision event timer (IA-PC HPET specification 1.0a) interrupts when there is
//! one.
#![no_std]
#![no_main]

use craft::ESTIMATOR;
use tactus_rt::device::Registers;
use tactus_rt::{grant, Job};

tactus_rt::component! { job: read, services: [] }

/// Readings per second.
const RATE: u64 = 1_000;
/// The line that the system file names.
const LINE: u64 = 20;

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

/// The first job comes at the start, without an interrupt.
fn read(job: &Job) {
    if job.number() == 0 {
        set_up();
    }
    // Only one reading at a time is kept: the next one may come.
    job.acknowledge();
    let Ok(reading) = grant("sense").call_wide([0; 10]) else { panic!("no sensor") };
    assert!(job.enter(ESTIMATOR), "the estimator is not declared");
    let updated = grant("update").call_wide(reading);
    job.leave();
    assert!(updated.is_ok(), "no estimator");
}

fn set_up() {
    let timer = Registers::of(0);
    // Femtoseconds per count.
    let count = timer.read(CAPABILITIES) >> 32;
    assert!(count > 0 && count <= 100_000_000, "there is no such timer");
    timer.write(CONFIGURATION, 0);
    timer.write(COUNTER, 0);
    // By edges, enabled, periodic, and the next write sets the first one.
    timer.write(TIMER, 1 << 2 | 1 << 3 | 1 << 6 | LINE << 9);
    timer.write(COMPARATOR, 1_000_000_000_000_000 / RATE / count);
    timer.write(CONFIGURATION, 1);
}
