//! Services that do nothing, or look at every word; brands whose upcalls begin here or in the client.
#![no_std]
#![no_main]

use tactus_bench_book::{Book, Series};
use tactus_rt::abi::call::source;
use tactus_rt::calls::{self, BrandOperation};
use tactus_rt::clock::time_stamp;
use tactus_rt::Caller;

tactus_rt::component! {
    brand: ticked,
    services: [nothing, sum, make, trigger, tick],
    wide: [nothing_wide, sum_wide],
}

static BOOK: Book = Book::new();
/// The shortest that the kernel takes (microseconds).
const PERIOD: u64 = 50;

fn nothing(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [0; 2]
}

fn sum(_: Caller, words: [u64; 5]) -> [u64; 2] {
    [words.iter().sum(), words.len() as u64]
}

fn nothing_wide(_: Caller, _: [u64; 10]) -> [u64; 10] {
    [0; 10]
}

fn sum_wide(_: Caller, words: [u64; 10]) -> [u64; 10] {
    let [_, a, b, c, d, e, f, g, h, i] = words;
    [words.iter().sum(), i, h, g, f, e, d, c, b, a]
}

/// `(where)`: a brand whose upcalls begin in the caller's component (0) or here (1).
fn make(_: Caller, [place, ..]: [u64; 5]) -> [u64; 2] {
    match calls::brand_control(BrandOperation::Create, 0, place) {
        Ok(brand) => [brand, 0],
        Err(_) => calls::give_up(),
    }
}

/// `(brand, series)`: triggers. The upcall is told the time for [`Series::Wake`]; for the others, whose upcalls do nothing,
/// the time until the trigger is back is noted here.
fn trigger(_: Caller, [brand, series, ..]: [u64; 5]) -> [u64; 2] {
    if series == Series::Wake as u64 {
        let _ = calls::trigger(brand, time_stamp());
        return [0; 2];
    }
    let begin = time_stamp();
    let status = calls::trigger(brand, 0);
    let end = time_stamp();
    if let (Some(series), Ok(())) = (Series::from_u64(series), status) {
        BOOK.write(series, end - begin);
    }
    [begin, 0]
}

/// `(brand, whether)`: the brand ticks, or ticks no more.
fn tick(_: Caller, [brand, on, ..]: [u64; 5]) -> [u64; 2] {
    let operation = if on == 0 { BrandOperation::Unwire } else { BrandOperation::Wire };
    match calls::brand_control(operation, brand, source::TICK | PERIOD << 8) {
        Ok(_) => [0; 2],
        Err(_) => calls::give_up(),
    }
}

/// The tick's upcall.
fn ticked(_: u64) {
    BOOK.write(Series::TickUpcall, time_stamp());
}
