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

/// Whether every register that a call does not give back comes back cleared. Set to ones before.
fn comes_back_clean(call: u64, grant: u64) -> bool {
    let left: u64;
    // SAFETY: both calls end here again; `rbx` and `rbp` are put back, all others are declared.
    unsafe {
        core::arch::asm!(
            "push rbx",
            "push rbp",
            "mov rbx, -1",
            "mov rbp, -1",
            "syscall",
            "or rdx, rbx",
            "or rdx, rbp",
            "or rdx, r8",
            "or rdx, r9",
            "or rdx, r10",
            "or rdx, r12",
            "or rdx, r13",
            "or rdx, r14",
            "or rdx, r15",
            "pop rbp",
            "pop rbx",
            inout("rax") call => _,
            inout("rdi") grant => _,
            inout("rsi") u64::MAX => _,
            inout("rdx") u64::MAX => left,
            inout("r8") u64::MAX => _,
            inout("r9") u64::MAX => _,
            inout("r10") u64::MAX => _,
            inout("r12") u64::MAX => _,
            inout("r13") u64::MAX => _,
            inout("r14") u64::MAX => _,
            inout("r15") u64::MAX => _,
            out("rcx") _,
            out("r11") _,
        );
    }
    left == 0
}

fn measure(_: &Job) {
    let (nothing, sum) = (grant("nothing"), grant("sum"));
    // Figures of a kernel that leaves something in registers are worth nothing. Grant 1 is the first after the
    // scheduler's.
    let invoke = tactus_rt::abi::call::Call::Invoke as u64;
    if !(comes_back_clean(invoke, 1) && comes_back_clean(invoke, u64::MAX) && comes_back_clean(UNKNOWN_CALL, 0)) {
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
    // The scheduler does the rest and ends the run.
    let _ = calls::invoke(0, [0; 5]);
    calls::give_up();
}
