//! Notes how long after a device's interrupt the job begins that it releases. The device is a high precision event timer (IA-PC HPET
//! specification 1.0a), whose counter and this machine's time-stamp counter tell one time.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::device::Registers;
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();
/// The time stamp from which the device counts.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Between interrupts (ns).
const PERIOD: u64 = 1_000_000;
/// The line that the system names.
const LINE: u64 = 20;

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

fn note(job: &Job) {
    let now = time_stamp();
    match job.number() {
        0 => set_up(),
        number => {
            let due = BEGUN.load(Ordering::Relaxed) + number * PERIOD;
            BOOK.write(Series::Released, number << 32 | now.wrapping_sub(due));
        }
    }
    job.acknowledge();
}

fn set_up() {
    let timer = Registers::of(0);
    // Femtoseconds per count.
    let count = timer.read(CAPABILITIES) >> 32;
    timer.write(CONFIGURATION, 0);
    timer.write(COUNTER, 0);
    // By edges, enabled, periodic, and the next write sets the first one.
    timer.write(TIMER, 1 << 2 | 1 << 3 | 1 << 6 | LINE << 9);
    timer.write(COMPARATOR, PERIOD * 1_000_000 / count.max(1));
    BEGUN.store(time_stamp(), Ordering::Relaxed);
    timer.write(CONFIGURATION, 1);
}
