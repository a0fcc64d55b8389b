//! The driver of the sensor. A high precision event timer (IA-PC HPET specification 1.0a) stands for it: it interrupts a thousand
//! times a second, at times of its own, and its counter is what is measured.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::{cards, Caller, Job};

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
        SAMPLE.store(register(COUNTER, None), Ordering::Relaxed);
    }
    job.acknowledge();
}

/// `() -> (sample)`.
fn read(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [SAMPLE.load(Ordering::Relaxed), 0]
}

fn set_up() {
    // Femtoseconds per count.
    let period = register(CAPABILITIES, None) >> 32;
    assert!(period > 0 && period <= 100_000_000, "there is no such timer");
    let distance = 1_000_000_000_000_000 / RATE / period;
    register(CONFIGURATION, Some(0));
    register(COUNTER, Some(0));
    // By edges, enabled, periodic, and the next write sets the first one.
    register(TIMER, Some(1 << 2 | 1 << 3 | 1 << 6 | LINE << 9));
    register(COMPARATOR, Some(distance));
    register(CONFIGURATION, Some(1));
}

/// Writes a register, if there is a value; gives what it then is.
fn register(offset: u64, value: Option<u64>) -> u64 {
    let Some(card) = cards::devices().first() else { panic!("there is no device") };
    let at = (card.address + offset) as *mut u64;
    // SAFETY: the device's registers, which the system file gives this component.
    unsafe {
        if let Some(value) = value {
            at.write_volatile(value);
        }
        at.read_volatile()
    }
}
