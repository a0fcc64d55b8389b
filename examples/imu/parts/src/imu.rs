//! The driver of the sensor. A high precision event timer (IA-PC HPET specification 1.0a) stands for it: it interrupts a thousand
//! times a second, at times of its own, and its counter is what is measured.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::device::{PeriodicTimer, Registers};
use tactus_rt::{Caller, Job};

tactus_rt::component! { job: sample, services: [read] }

/// From one interrupt to the next (ns).
const PERIOD: u64 = 1_000_000;
/// The line that the system file names.
const LINE: u64 = 20;
const TIMER: PeriodicTimer = PeriodicTimer::of(Registers::of(0));

/// The last sample.
static SAMPLE: AtomicU64 = AtomicU64::new(0);

/// Takes a sample, and lets the sensor interrupt again. The first job comes at the start, without an interrupt.
fn sample(job: &Job) {
    if job.number() == 0 {
        set_up();
    } else {
        SAMPLE.store(TIMER.count(), Ordering::Relaxed);
    }
    job.acknowledge();
}

/// `() -> (sample)`.
fn read(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [SAMPLE.load(Ordering::Relaxed), 0]
}

fn set_up() {
    TIMER.set_up(PERIOD, LINE);
    TIMER.start();
}
