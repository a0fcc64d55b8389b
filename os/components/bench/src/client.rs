//! Measures what a component can see by itself, then asks the scheduler that runs beside it for the rest. Its one job
//! ends the run.
#![no_std]
#![no_main]

use tactus_bench_book::{Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, grant, Job};

tactus_rt::component! { job: measure, services: [] }

static BOOK: Book = Book::new();

/// How often each thing is done.
const ROUNDS: u64 = 4_000;
/// A call that does not exist.
const UNKNOWN_CALL: u64 = 999;

fn repeat(series: Series, mut action: impl FnMut()) {
    for _ in 0..ROUNDS {
        let begin = time_stamp();
        action();
        let end = time_stamp();
        BOOK.write(series, end - begin);
    }
}

fn measure(_: &Job) {
    let (nothing, sum) = (grant("nothing"), grant("sum"));
    repeat(Series::Empty, || ());
    repeat(Series::Null, calls::null);
    repeat(Series::Unknown, || {
        calls::raw(UNKNOWN_CALL, [0; 6]);
    });
    repeat(Series::Invoke, || {
        let _ = nothing.call([0; 5]);
    });
    repeat(Series::InvokeWords, || {
        if sum.call([1, 2, 3, 4, 5]) != Ok([15, 5]) {
            calls::give_up();
        }
    });
    // The scheduler does the rest and ends the run.
    let _ = calls::invoke(0, [0; 5]);
    calls::give_up();
}
