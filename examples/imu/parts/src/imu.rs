//! The driver of the sensor. A high precision event timer (IA-PC HPET specification 1.0a) stands for it: it interrupts a thousand
//! times a second, at times of its own, and its counter is what is measured.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::device::Registers;
use tactus_rt::{Caller, Job};

tactus_rt::component! { job: sample, services: [read] }

/// Samples per second.
const RATE: u64 = 1_000;
/// The line that the system file names.
const LINE: u64 = 20;

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

/// The last sample.
static SAMPLE: AtomicU64 = AtomicU64::new(0);

/// Takes a sample, and lets the sensor interrupt again. The first job comes at the start, without an interrupt.
fn sample(job: &Job) {
    if job.number() == 0 {
        set_up();
    } else {
        SAMPLE.store(Registers::of(0).read(COUNTER), Ordering::Relaxed);
    }
    job.acknowledge();
}

/// `() -> (sample)`.
fn read(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [SAMPLE.load(Ordering::Relaxed), 0]
}

fn set_up() {
    let sensor = Registers::of(0);
    // Femtoseconds per count.
    let count = sensor.read(CAPABILITIES) >> 32;
    assert!(count > 0 && count <= 100_000_000, "there is no such timer");
    sensor.write(CONFIGURATION, 0);
    sensor.write(COUNTER, 0);
    // By edges, enabled, periodic, and the next write sets the first one.
    sensor.write(TIMER, 1 << 2 | 1 << 3 | 1 << 6 | LINE << 9);
    sensor.write(COMPARATOR, 1_000_000_000_000_000 / RATE / count);
    sensor.write(CONFIGURATION, 1);
}
