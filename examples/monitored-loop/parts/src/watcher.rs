//! A monitor as a component of its own, outside the kernel: whoever makes an event happen calls it. The table is that of
//! `always (a -> next (not b unless c))`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_rt::Caller;

tactus_rt::component! { services: [nothing, step] }

/// By state and event; the last state is the violation.
const NEXT: [u8; 9] = [1, 0, 0, 1, 2, 0, 2, 2, 2];
static STATE: AtomicUsize = AtomicUsize::new(0);

fn nothing(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [0; 2]
}

/// `(event)`: 1 if the property is violated now.
fn step(_: Caller, words: [u64; 5]) -> [u64; 2] {
    let at = STATE.load(Ordering::Relaxed) * 3 + words[0] as usize % 3;
    let next = NEXT.get(at).copied().unwrap_or(2);
    STATE.store(next.into(), Ordering::Relaxed);
    [u64::from(next == 2), 0]
}
