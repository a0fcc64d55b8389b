//! Of two tasks with equal parameters: notes how long after the end of the first one's job the second one's begins.

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::Job;

static BOOK: Book = Book::new();
/// When the first one's last job ended, and which one it was.
static ENDED: AtomicU64 = AtomicU64::new(0);
static JOB: AtomicU64 = AtomicU64::new(u64::MAX);
/// The first of the two tasks, once it is known.
static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);

/// A job of either has begun.
#[inline(always)]
pub fn note(job: &Job) {
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
