//! What the components of the example have in common.
#![no_std]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::clock::{ticks_to_nanos, time_stamp};
use tactus_rt::grant;

pub const MICROSECOND: u64 = 1_000;
pub const MILLISECOND: u64 = 1_000 * MICROSECOND;

/// Readings further apart than this have somebody else's time between them (ticks).
const GAP: u64 = 1_000;

/// Makes a main VCPU with this budget in each period (ns). Its number, unless it does not fit.
pub fn create(budget: u64, period: u64) -> Option<u64> {
    match grant("create").call([budget, period, 0, 0, 0]) {
        Ok([vcpu, 0]) => Some(vcpu),
        _ => None,
    }
}

/// The same, and binds the calling thread to it.
pub fn enter(budget: u64, period: u64) -> Option<u64> {
    let vcpu = create(budget, period)?;
    matches!(grant("bind").call([vcpu, 0, 0, 0, 0]), Ok([_, 0])).then_some(vcpu)
}

/// Works, and knows how long it had the core.
pub struct Meter(AtomicU64);

impl Meter {
    /// Nothing worked yet.
    pub const fn new() -> Meter {
        Meter(AtomicU64::new(0))
    }

    /// Works for at least so long (ns).
    pub fn work(&self, nanos: u64) {
        let end = self.nanos().saturating_add(nanos);
        let mut last = time_stamp();
        while self.nanos() < end {
            let now = time_stamp();
            if now - last < GAP {
                self.0.fetch_add(now - last, Ordering::Relaxed);
            }
            last = now;
        }
    }

    /// How long it has worked (ns).
    pub fn nanos(&self) -> u64 {
        ticks_to_nanos(self.0.load(Ordering::Relaxed))
    }
}
