//! Post: a message in each job, which waits until somebody takes it.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::{Caller, Job};

tactus_rt::component! { job: send, services: [take] }

const ROOM: usize = 64;

static MESSAGES: [AtomicU64; ROOM] = [const { AtomicU64::new(0) }; ROOM];
static SENT: AtomicU64 = AtomicU64::new(0);
static TAKEN: AtomicU64 = AtomicU64::new(0);

fn send(_: &Job) {
    let sent = SENT.load(Relaxed);
    assert!(sent - TAKEN.load(Relaxed) < ROOM as u64, "nobody takes the post");
    MESSAGES[sent as usize % ROOM].store(sent.wrapping_mul(0x9e37_79b9_7f4a_7c15), Relaxed);
    SENT.store(sent + 1, Relaxed);
}

/// `() -> (1, message)`, or `(0, 0)` if none waits.
fn take(_: Caller, _: [u64; 5]) -> [u64; 2] {
    let taken = TAKEN.load(Relaxed);
    if taken == SENT.load(Relaxed) {
        return [0; 2];
    }
    let message = MESSAGES[taken as usize % ROOM].load(Relaxed);
    TAKEN.store(taken + 1, Relaxed);
    [1, message]
}
