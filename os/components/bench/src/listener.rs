//! First helps the scheduler to measure switches, then notes when it was interrupted and when it went on.
#![no_std]
#![no_main]

use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, Job};

tactus_rt::component! { job: listen, services: [] }

static BOOK: Book = Book::new();

/// Readings further apart than this have an interruption between them.
const GAP: u64 = 150;

fn listen(_: &Job) {
    // Comes back when no more switches are to be measured.
    let _ = calls::invoke(0, [0; 5]);
    let mut last = time_stamp();
    loop {
        let now = time_stamp();
        if now - last > GAP {
            BOOK.write(Series::Interrupted, last);
            BOOK.write(Series::Resumed, now);
            last = time_stamp();
        } else {
            last = now;
        }
    }
}
