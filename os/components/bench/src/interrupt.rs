//! Notes how long after a device's interrupt the job begins that it releases. The device is a high precision event timer (IA-PC HPET
//! specification 1.0a), whose counter and this machine's time-stamp counter tell one time.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::device::{PeriodicTimer, Registers};
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();
/// The time stamp from which the device counts.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Between interrupts (ns).
const PERIOD: u64 = 1_000_000;
/// The line that the system names.
const LINE: u64 = 20;

const TIMER: PeriodicTimer = PeriodicTimer::of(Registers::of(0));

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
    TIMER.set_up(PERIOD, LINE);
    BEGUN.store(time_stamp(), Ordering::Relaxed);
    TIMER.start();
}
