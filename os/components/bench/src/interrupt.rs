//! Notes how long after a device's interrupt the job begins that it releases. The device is a high precision event timer (IA-PC HPET
//! specification 1.0a), whose counter and this machine's time-stamp counter tell one time. Each job sets the next interrupt: a periodic
//! comparator of the emulator's interrupts again while its counter still shows the time of the last one.
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
/// When the next interrupt is due, in counts of the device; 0 before the first.
static DUE: AtomicU64 = AtomicU64::new(0);

/// Between interrupts (fs).
const PERIOD: u64 = 1_000_000_000_000;
/// Of a nanosecond, which the time-stamp counter counts.
const FEMTOSECONDS: u64 = 1_000_000;
/// The line that the system names.
const LINE: u64 = 20;

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

fn note(job: &Job) {
    let now = time_stamp();
    let timer = Registers::of(0);
    // Femtoseconds per count.
    let count = (timer.read(CAPABILITIES) >> 32).max(1);
    let due = DUE.load(Ordering::Relaxed);
    if due == 0 {
        timer.write(CONFIGURATION, 0);
        timer.write(COUNTER, 0);
        // By edges, enabled, once.
        timer.write(TIMER, 1 << 2 | LINE << 9);
        BEGUN.store(time_stamp(), Ordering::Relaxed);
        timer.write(CONFIGURATION, 1);
    } else {
        let due = BEGUN.load(Ordering::Relaxed) + due * count / FEMTOSECONDS;
        BOOK.write(Series::Released, job.number() << 32 | now.wrapping_sub(due) & 0xffff_ffff);
    }
    let next = due + PERIOD / count;
    DUE.store(next, Ordering::Relaxed);
    timer.write(COMPARATOR, next);
    job.acknowledge();
}
