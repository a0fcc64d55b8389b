//! The plant: a cart on a rail with friction, pushed by a force. A service for everybody who was granted it.
//!
//! Its state moves on with the clock, in steps of one millisecond. Position is in micrometres, velocity in micrometres
//! per second, force in micrometres per second squared (the cart has unit mass).
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tactus_rt::Caller;

tactus_rt::component! { services: [sense, actuate] }

static POSITION: AtomicI64 = AtomicI64::new(0);
static VELOCITY: AtomicI64 = AtomicI64::new(0);
static FORCE: AtomicI64 = AtomicI64::new(0);
/// The millisecond up to which the state has been computed.
static COMPUTED: AtomicU64 = AtomicU64::new(0);

/// Brings the state up to now. Whoever wins a step computes it; a caller that meets another one at work leaves the
/// step to it, so nobody waits for anybody.
fn advance() {
    let now = tactus_rt::now().as_nanos() / 1_000_000;
    loop {
        let done = COMPUTED.load(Ordering::Acquire);
        if done >= now || COMPUTED.compare_exchange(done, done + 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        let velocity = VELOCITY.load(Ordering::Relaxed);
        let friction = velocity / 2;
        VELOCITY.fetch_add((FORCE.load(Ordering::Relaxed) - friction) / 1_000, Ordering::Relaxed);
        POSITION.fetch_add(velocity / 1_000, Ordering::Relaxed);
    }
}

/// `() -> (position, velocity)`.
fn sense(_: Caller, _: [u64; 5]) -> [u64; 2] {
    advance();
    [POSITION.load(Ordering::Relaxed) as u64, VELOCITY.load(Ordering::Relaxed) as u64]
}

/// `(force)`.
fn actuate(_: Caller, words: [u64; 5]) -> [u64; 2] {
    advance();
    FORCE.store(words[0] as i64, Ordering::Relaxed);
    [0; 2]
}
