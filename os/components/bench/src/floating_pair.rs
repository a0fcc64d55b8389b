//! As `pair.rs`, in a component with floating point: each job begins with an instruction of that unit.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();
/// When the first one's last job ended, and which one it was.
static ENDED: AtomicU64 = AtomicU64::new(0);
static JOB: AtomicU64 = AtomicU64::new(u64::MAX);
/// The first of the two tasks, once it is known.
static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);

fn note(job: &Job) {
    // SAFETY: does nothing, and faults where the unit is shut.
    unsafe { core::arch::asm!("fnop", options(nomem, nostack, preserves_flags)) };
    let now = time_stamp();
    let task = u64::from(job.task());
    if task <= FIRST.load(Ordering::Relaxed) {
        FIRST.store(task, Ordering::Relaxed);
        JOB.store(job.number(), Ordering::Relaxed);
        tactus_bench_book::begin(Series::NextJob);
        ENDED.store(time_stamp(), Ordering::Relaxed);
    } else if JOB.load(Ordering::Relaxed) == job.number() {
        BOOK.write(Series::NextJob, job.number() << 32 | (now - ENDED.load(Ordering::Relaxed)));
    }
}
