//! The driver of a device that interrupts every 50 µs for 200 µs of work, four times what the core has: it serves as long as there is
//! something to serve, so that a job of it never ends. A high precision event timer (IA-PC HPET specification 1.0a) stands for the device.
#![no_std]
#![no_main]

use tactus_rt::clock::{ticks_to_nanos, time_stamp};
use tactus_rt::device::Registers;
use tactus_rt::Job;

tactus_rt::component! { job: serve, services: [] }

/// Interrupts per second.
const RATE: u64 = 20_000;
/// What each asks for (ns).
const WORK: u64 = 200_000;
/// The line that the system file names.
const LINE: u64 = 20;
/// Readings with a larger distance than this have somebody else's time between them (ticks).
const GAP: u64 = 1_000;

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

/// The first job comes at the start, without an interrupt, and sets the device up.
fn serve(job: &Job) {
    let device = Registers::of(0);
    let distance = 1_000_000_000_000_000 / RATE / (device.read(CAPABILITIES) >> 32).max(1);
    if job.number() == 0 {
        set_up(device, distance);
    } else {
        let mut served = 0;
        while served < device.read(COUNTER) / distance {
            work();
            served += 1;
        }
    }
    job.acknowledge();
}

fn work() {
    let (mut had, mut last) = (0, time_stamp());
    while ticks_to_nanos(had) < WORK {
        let now = time_stamp();
        if now - last < GAP {
            had += now - last;
        }
        last = now;
    }
}

fn set_up(device: Registers, distance: u64) {
    assert!(device.read(CAPABILITIES) >> 32 <= 100_000_000, "there is no such timer");
    device.write(CONFIGURATION, 0);
    device.write(COUNTER, 0);
    // By edges, enabled, periodic, and the next write sets the first one.
    device.write(TIMER, 1 << 2 | 1 << 3 | 1 << 6 | LINE << 9);
    device.write(COMPARATOR, distance);
    device.write(CONFIGURATION, 1);
}
