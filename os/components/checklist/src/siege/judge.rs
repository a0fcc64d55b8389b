//! The root of the siege: gives each of two children its budget, in every period, on every core, and keeps the books.
//!
//! The sibling's part begins after a pause in which the core sleeps, so that it begins at the same instant whatever
//! the other subtree did before.
#![no_std]
#![no_main]

mod common;
#[path = "../console.rs"]
mod console;

use common::{card, dispatch, take_events, upcall_of};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_rt::abi::call::{Error, SchedulerOperation, IDLE, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::abi::shared::{event, name_text};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, clock, info, region_field, Caller};

tactus_rt::component! { upcall: upcall, services: [complete, note, mode] }

/// Ticks of a period, and of its parts: the sibling's, the other subtree's; the rest is the pause.
const PERIOD: u64 = 1_000_000;
const SIBLING: u64 = 400_000;
const OTHER: u64 = 500_000;
/// Jobs of the sibling's on each core whose order is compared: where cores take turns, not all of a run come in its time.
const COMPARED: u64 = 50;
/// Threads of the sibling's on each core.
const THREADS: u64 = 2;
const END: u8 = 0x10;

/// What is kept for each core.
struct Book {
    /// The part that runs: three in each period.
    part: AtomicU64,
    /// When the other subtree got the core.
    given: AtomicU64,
    /// How long it had it: in all, and at most at once.
    had: AtomicU64,
    most: AtomicU64,
    /// What the sibling did: how many jobs, a digest of which one after which, and one of the instants of all of them.
    jobs: AtomicU64,
    order: AtomicU64,
    instants: AtomicU64,
}

static BOOKS: [Book; 8] = [const {
    Book {
        part: AtomicU64::new(0),
        given: AtomicU64::new(0),
        had: AtomicU64::new(0),
        most: AtomicU64::new(0),
        jobs: AtomicU64::new(0),
        order: AtomicU64::new(0),
        instants: AtomicU64::new(0),
    }
}; 8];
static READY: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Periods of the run, as the system file says.
fn periods() -> u64 {
    info().duration / PERIOD
}

fn complete(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [1, 0]
}

/// What the hostile scheduler is to do: its [`Mode`](common::Mode) as a number.
fn mode(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [common::Mode::named(name_text(&info().system)) as u64, 0]
}

/// The sibling has done a job at this instant.
fn note(caller: Caller, [job, now, ..]: [u64; 5]) -> [u64; 2] {
    let book = &BOOKS[usize::from(caller.core()) % BOOKS.len()];
    let mix = |place: &AtomicU64, word: u64| {
        place.store((place.load(SeqCst) ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(7), SeqCst);
    };
    if book.jobs.fetch_add(1, SeqCst) < COMPARED {
        mix(&book.order, job << 16 | u64::from(caller.thread()));
    }
    mix(&book.instants, now.wrapping_sub(clock::clock().epoch));
    [0; 2]
}

/// Makes both children schedulers, and the threads.
fn set_up() {
    for name in ["sibling", "parent"] {
        let _ = calls::scheduler_control(SchedulerOperation::Promote, 0, card(name).0);
    }
    let cores = u64::from(info().cores);
    for number in 0..cores * THREADS {
        for (home, child) in [("sibling", "sibling"), ("hostile", "parent")] {
            match calls::create_thread(card(home).0, [number / THREADS, number % THREADS]) {
                Ok(thread) => drop(calls::scheduler_control(SchedulerOperation::Grant, thread, card(child).0)),
                Err(_) => calls::give_up(),
            }
        }
    }
    READY.store(1, SeqCst);
}

fn upcall(core: u8) -> ! {
    let entered = time_stamp();
    let book = &BOOKS[usize::from(core) % BOOKS.len()];
    // Every other core begins half a period later, so that the sibling has one while the other subtree has the next.
    let begin = clock::clock().epoch + PERIOD + u64::from(core % 2) * (PERIOD / 2);
    loop {
        let events = take_events(core);
        if events & event::START != 0 {
            if core == 0 {
                set_up();
            }
            while READY.load(SeqCst) == 0 {
                core::hint::spin_loop();
            }
        }
        let given = book.given.swap(0, SeqCst);
        if given != 0 {
            let had = entered - given;
            book.had.fetch_add(had, SeqCst);
            book.most.fetch_max(had, SeqCst);
        }
        // The part follows from the time alone.
        let now = time_stamp().saturating_sub(begin);
        let (period, within) = (now / PERIOD, now % PERIOD);
        if time_stamp() >= begin && period >= periods() {
            end(core);
        }
        let (thread, until) = match within {
            _ if time_stamp() < begin => (IDLE, begin),
            w if w < SIBLING => (upcall_of("sibling", core), begin + period * PERIOD + SIBLING),
            w if w < SIBLING + OTHER => (upcall_of("parent", core), begin + period * PERIOD + SIBLING + OTHER),
            _ => (IDLE, begin + (period + 1) * PERIOD),
        };
        // Who says that it has nothing to run gets the core again in its next part.
        let thread = if events & event::CHILD_IDLE != 0 { IDLE } else { thread };
        if thread == upcall_of("parent", core) {
            book.given.store(time_stamp(), SeqCst);
        }
        let refused = dispatch(core, thread, SWITCH_UPCALL_DONE, until);
        book.given.store(0, SeqCst);
        if refused != Err(Error::Again) {
            let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, until);
        }
        book.part.fetch_add(1, SeqCst);
    }
}

/// This core is through; the last one tells.
fn end(core: u8) -> ! {
    let cores = u64::from(info().cores);
    if core != 0 {
        ENDED.fetch_add(1, SeqCst);
        loop {
            let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, NO_TIMEOUT);
            take_events(core);
        }
    }
    while ENDED.load(SeqCst) + 1 < cores {
        core::hint::spin_loop();
    }
    for (number, book) in BOOKS.iter().enumerate().take(cores as usize) {
        let (longest, refused) =
            (region_field!(number as u8, longest).read(), region_field!(number as u8, refused).read());
        tell!(
            "core {number}: sibling: {} jobs, order {:016x}, instants {:016x}",
            book.jobs.load(SeqCst),
            book.order.load(SeqCst),
            book.instants.load(SeqCst)
        );
        tell!(
            "core {number}: other: had {} of {}, at most {} at once; longest in the kernel {longest}, {refused} calls refused",
            book.had.load(SeqCst),
            periods() * OTHER,
            book.most.load(SeqCst)
        );
    }
    calls::finish(END)
}
