//! Notes how long after its nominal release each job begins.
#![no_std]
#![no_main]

use tactus_bench_book::{Book, Series};
use tactus_rt::clock::{reading, time_stamp};
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

static BOOK: Book = Book::new();

fn note(job: &Job) {
    let now = time_stamp();
    BOOK.write(Series::Woken, job.number() << 32 | (now - reading(job.release())));
}
