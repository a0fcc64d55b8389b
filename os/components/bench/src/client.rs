//! Measures what a component can see by itself, then asks the scheduler that runs beside it for the rest. Its one job
//! ends the run.
#![no_std]
#![no_main]

use tactus_bench_book::{is_followed, order, Book, Series};
use tactus_rt::clock::time_stamp;
use tactus_rt::hostile::comes_back_clean;
use tactus_rt::{calls, grant, Job};

tactus_rt::component! { job: measure, brand: woken, services: [] }

static BOOK: Book = Book::new();

/// How often each thing is done.
fn rounds() -> u64 {
    if is_followed(tactus_rt::info().tasks) {
        40
    } else {
        4_000
    }
}
/// A call that does not exist.
const UNKNOWN_CALL: u64 = 999;

fn repeat(series: Series, mut action: impl FnMut()) {
    for _ in 0..rounds() {
        let begin = time_stamp();
        action();
        let end = time_stamp();
        BOOK.write(series, end - begin);
    }
}

/// Ticks that are waited for.
fn ticks() -> u64 {
    rounds() / 10
}
/// Readings further apart than this have an interruption between them.
const GAP: u64 = 100;
/// Slots in the scheduler's regions, and urgencies.
const MY_SLOT: u64 = 1;
const MY_URGENCY: u64 = 10;
const MORE_URGENT: u64 = 5;
const LESS_URGENT: u64 = 15;

/// The upcall of the brand that the server triggers.
fn woken(began: u64) {
    if began != 0 {
        BOOK.write(Series::Wake, time_stamp() - began);
    }
}

/// What the scheduler does for the client besides: see there.
fn ask(order: u64, words: [u64; 4]) -> u64 {
    let [a, b, c, d] = words;
    match calls::invoke(0, [order, a, b, c, d]) {
        Ok([value, 0]) => value,
        _ => calls::give_up(),
    }
}

/// Brands: run, not run, pending, with the scheduler; then ticks.
fn brands() {
    let (make, trigger, tick) = (grant("make"), grant("trigger"), grant("tick"));
    let brand = |place| make.call([place, 0, 0, 0, 0]).map_or_else(|_| calls::give_up(), |[brand, _]| brand);
    let (brand, ticking) = (brand(0), brand(1));
    ask(order::BIND, [MY_SLOT, MY_URGENCY, 0, 0]);
    let upcall = ask(order::ADOPT, [brand, MY_SLOT + 1, MORE_URGENT, 0]);
    ask(order::ADOPT, [ticking, MY_SLOT + 2, MORE_URGENT, 0]);
    for series in [Series::Wake, Series::RunAndBack] {
        for _ in 0..rounds() {
            let _ = trigger.call([brand, series as u64, 0, 0, 0]);
        }
    }
    ask(order::URGE, [MY_SLOT + 1, LESS_URGENT, 0, 0]);
    for _ in 0..rounds() / 4 {
        let _ = trigger.call([brand, Series::NotRun as u64, 0, 0, 0]);
        let _ = trigger.call([brand, Series::Pending as u64, 0, 0, 0]);
        ask(order::DISPATCH, [upcall, 0, 0, 0]);
    }
    for _ in 0..rounds() / 4 {
        tactus_bench_book::begin(Series::WithScheduler);
        let begin = time_stamp();
        let _ = trigger.call([brand, 0, 0, 0, 0]);
        ask(order::DISPATCH, [upcall, 0, 0, 0]);
        BOOK.write(Series::WithScheduler, time_stamp() - begin);
    }
    let _ = tick.call([ticking, 1, 0, 0, 0]);
    let (mut last, mut seen) = (time_stamp(), 0);
    let ticks = ticks();
    while seen < ticks {
        let now = time_stamp();
        if now - last > GAP {
            BOOK.write(Series::TickInterrupted, last);
            seen += 1;
            last = time_stamp();
        } else {
            last = now;
        }
    }
    let _ = tick.call([ticking, 0, 0, 0, 0]);
    // Nothing of this is left over for what is measured next.
    ask(order::URGE, [MY_SLOT + 1, LESS_URGENT, 0, 0]);
    ask(order::BIND, [0; 4]);
}

fn measure(_: &Job) {
    let (nothing, sum) = (grant("nothing"), grant("sum"));
    let (nothing_wide, sum_wide) = (grant("nothing_wide"), grant("sum_wide"));
    // Figures of a kernel that leaves something in registers are worth nothing.
    let invoke = tactus_rt::abi::call::Call::Invoke as u64;
    let wide = tactus_rt::abi::call::Call::InvokeWide as u64;
    let clean = comes_back_clean(invoke, nothing.number())
        && comes_back_clean(invoke, u64::MAX)
        && comes_back_clean(wide, nothing_wide.number())
        && comes_back_clean(wide, u64::MAX)
        && comes_back_clean(invoke, nothing_wide.number())
        && comes_back_clean(wide, nothing.number())
        && comes_back_clean(UNKNOWN_CALL, 0);
    let all = sum_wide.call_wide([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) == Ok([55, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    if !(clean && all) {
        calls::give_up();
    }
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
    repeat(Series::InvokeTen, || {
        if !matches!(sum_wide.call_wide([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), Ok([55, ..])) {
            calls::give_up();
        }
    });
    brands();
    // The scheduler does the rest and ends the run.
    let _ = calls::invoke(0, [0; 5]);
    calls::give_up();
}
