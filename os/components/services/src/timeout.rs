//! The time-out service: threads sleep here until a time. Any number of components use it; the scheduler below needs to
//! know of one thread that wakes up by time, this component's own.
//!
//! | service | words | gives |
//! |---|---|---|
//! | `sleep` | nanoseconds | |
//!
//! The second word is 1 if too many threads sleep. It uses `block`, `wakeup`, `timeout_thread`, `timeout` and `thread` of a
//! scheduler of the library.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::{grant, now, Caller};

tactus_rt::component! { thread: keep_time, services: [sleep] }

/// The most threads that sleep at once.
const SLEEPERS: usize = 64;
/// Nobody has the place.
const FREE: u64 = 0;
/// Somebody is on the way in.
const TAKEN: u64 = u64::MAX;

struct Sleeper {
    /// The thread, plus one; or [`FREE`], or [`TAKEN`].
    thread: AtomicU64,
    /// When it is to be woken (ns).
    at: AtomicU64,
}

static SLEEPERS_ALL: [Sleeper; SLEEPERS] =
    [const { Sleeper { thread: AtomicU64::new(FREE), at: AtomicU64::new(0) } }; SLEEPERS];
/// The thread that keeps the time, plus one.
static KEEPER: AtomicU64 = AtomicU64::new(0);

/// The calling thread comes back when the time is over.
fn sleep(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let at = now().as_nanos().saturating_add(words[0]);
    let free = |it: &&Sleeper| it.thread.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok();
    let Some(place) = SLEEPERS_ALL.iter().find(free) else { return [0, 1] };
    place.at.store(at, Ordering::Relaxed);
    place.thread.store(u64::from(caller.thread()) + 1, Ordering::Release);
    if let Some(keeper) = KEEPER.load(Ordering::Acquire).checked_sub(1) {
        let _ = grant("wakeup").call([keeper, 0, 0, 0, 0]);
    }
    let block = grant("block");
    // Whoever else wakes it wakes it too early.
    while now().as_nanos() < at && !matches!(block.call([0; 5]), Ok([_, error]) if error != 0) {}
    // Where time alone brought it back, the keeper need not look any more.
    let mine = u64::from(caller.thread()) + 1;
    let _ = place.thread.compare_exchange(mine, FREE, Ordering::Release, Ordering::Relaxed);
    [0; 2]
}

/// Wakes sleepers, and sleeps until the next one is due.
fn keep_time(_: [u64; 2]) {
    let [own, _] = grant("thread").call([0; 5]).unwrap_or_default();
    let (timeout, block, wakeup) = (grant("timeout"), grant("block"), grant("wakeup"));
    let _ = grant("timeout_thread").call([0; 5]);
    KEEPER.store(own + 1, Ordering::Release);
    loop {
        let time = now().as_nanos();
        let mut next = u64::MAX;
        for sleeper in &SLEEPERS_ALL {
            let thread = sleeper.thread.load(Ordering::Acquire);
            if thread == FREE || thread == TAKEN {
                continue;
            }
            let at = sleeper.at.load(Ordering::Relaxed);
            if at > time {
                next = next.min(at);
            } else if sleeper.thread.compare_exchange(thread, FREE, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                let _ = wakeup.call([thread - 1, 0, 0, 0, 0]);
            }
        }
        let wait = if next == u64::MAX { u64::MAX } else { next - time };
        let _ = timeout.call([wait, 0, 0, 0, 0]);
        if block.call([0; 5]).is_err() {
            return;
        }
    }
}
