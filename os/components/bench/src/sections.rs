//! Two tasks that share a resource: notes what entering and leaving a critical section takes that nobody else wants, and how long after its end
//! a more urgent job that asked for the resource goes on with it.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_bench_book::{begin, Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();
/// When the less urgent task's job was about to leave its section, while it is in there or has not been succeeded.
static LEAVES: AtomicU64 = AtomicU64::new(0);

/// Sections of a job that nobody else wants.
const PAIRS: u64 = 8;
/// Sections that are declared longer are the less urgent task's.
const LONG: Duration = Duration::from_micros(50);
/// How long that one keeps the resource, in which the other one asks for it.
const HELD: Duration = Duration::from_micros(100);

fn note(job: &Job) {
    let Some(section) = job.section(0) else { panic!("the task has no section") };
    if section.until - section.from < LONG {
        ask(job);
    } else {
        hold(job);
    }
}

/// The more urgent task's.
fn ask(job: &Job) {
    job.enter(0);
    let now = time_stamp();
    job.leave();
    // Nothing, if it had the resource at once.
    let left = LEAVES.swap(0, Ordering::Relaxed);
    if left != 0 {
        BOOK.write(Series::HandOver, now - left);
    }
}

fn hold(job: &Job) {
    for _ in 0..PAIRS {
        let before = time_stamp();
        let after = time_stamp();
        BOOK.write(Series::Empty, after - before);
        begin(Series::Section);
        let before = time_stamp();
        job.enter(0);
        job.leave();
        let after = time_stamp();
        BOOK.write(Series::Section, after - before);
    }
    job.enter(0);
    while job.charged() < HELD {
        core::hint::spin_loop();
    }
    begin(Series::HandOver);
    LEAVES.store(time_stamp(), Ordering::Relaxed);
    job.leave();
    // Who did not ask in the meantime was not kept waiting.
    LEAVES.store(0, Ordering::Relaxed);
}
