//! Notes the time before and after each stretch in which it did not run: the end of a partition's window, and the start of its next one.
#![no_std]
#![no_main]

use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();

/// Longer than a round of the loop, shorter than every way through the scheduler (instructions).
const ELSEWHERE: u64 = 100;

fn note(_: &Job) {
    let mut last = time_stamp();
    loop {
        let now = time_stamp();
        if now - last > ELSEWHERE {
            BOOK.write(Series::WindowLeft, last);
            BOOK.write(Series::WindowEntered, now);
        }
        last = now;
    }
}
