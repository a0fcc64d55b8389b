//! Threads that block and wake each other, for the scheduler that measures itself.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::{grant, info, Job};

tactus_rt::component! { job: drive, thread: help, services: [] }

static BOOK: Book = Book::new();
static BEGAN: AtomicU64 = AtomicU64::new(0);
static LEAST: [AtomicU64; 2] = [const { AtomicU64::new(u64::MAX) }; 2];
static MOST: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// What is noted: the time since it began until the next thread is back in here.
const BLOCK: usize = 0;
/// See [`BLOCK`].
const WAKE: usize = 1;

fn note(which: usize) {
    let length = time_stamp() - BEGAN.load(Relaxed);
    BOOK.write([Series::UserBlock, Series::UserWake][which], length);
    LEAST[which].fetch_min(length, Relaxed);
    MOST[which].fetch_max(length, Relaxed);
}

/// More urgent than the job.
fn help([what, _]: [u64; 2]) {
    match what {
        // The component's first thread.
        0 => {
            let _ = grant("exit").call([0; 5]);
        }
        1 => {
            let _ = grant("sleeper").call([0; 5]);
        }
        _ => {
            let block = grant("block");
            loop {
                let _ = block.call([0; 5]);
                note(WAKE);
                BEGAN.store(time_stamp(), Relaxed);
            }
        }
    }
}

/// Makes a thread of priority 3.
fn make(what: u64) -> u64 {
    let words = [info().component.into(), 3, what, 0, 0];
    grant("create").call(words).map_or(u64::MAX, |[thread, _]| thread)
}

fn drive(job: &Job) {
    let _ = job;
    let rounds = grant("lock").call([0; 5]).map_or(0, |[rounds, _]| rounds);
    let me = u64::from(info().cores);
    let sleeper = make(1);
    let _ = grant("waker").call([sleeper, 0, 0, 0, 0]);
    for thread in [sleeper, me] {
        let _ = grant("accounting").call([thread, 0, 0, 0, 0]);
    }
    let _ = grant("waker").call([sleeper, 0, 0, 0, 0]);
    let _ = grant("accounting").call([me, 1, 0, 0, 0]);
    let _ = grant("contended").call([sleeper, 0, 0, 0, 0]);
    let other = make(2);
    let wake = grant("wakeup");
    for _ in 0..rounds {
        BEGAN.store(time_stamp(), Relaxed);
        let _ = wake.call([other, 0, 0, 0, 0]);
        note(BLOCK);
    }
    for which in 0..2 {
        let _ =
            grant("tell").call([which, LEAST[which as usize].load(Relaxed), MOST[which as usize].load(Relaxed), 0, 0]);
    }
    let good = grant("sweep").call([0; 5]) == Ok([1, 0]);
    let _ = grant("end").call([if good { 0x10 } else { 0x11 }, 0, 0, 0, 0]);
}
