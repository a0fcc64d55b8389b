//! Takes each reading of the sensor to the estimator. A high precision event timer (IA-PC HPET specification 1.0a) interrupts when there is
//! one.
#![no_std]
#![no_main]

use craft::ESTIMATOR;
use tactus_rt::device::{PeriodicTimer, Registers};
use tactus_rt::{grant, Job};

tactus_rt::component! { job: read, services: [] }

/// From one interrupt to the next (ns).
const PERIOD: u64 = 1_000_000;
/// The line that the system file names.
const LINE: u64 = 20;
const TIMER: PeriodicTimer = PeriodicTimer::of(Registers::of(0));

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
    TIMER.set_up(PERIOD, LINE);
    TIMER.start();
}
