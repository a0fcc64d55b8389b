//! The clock: the counter of time and the kernel's word on how to read it.

use crate::arch::clock as arch;
use tactus_abi::layout::CLOCK;
use tactus_abi::shared::Clock;
use tactus_time::Instant;

/// How the clock is read. The same for all components and cores, fixed during a run.
#[inline]
pub fn clock() -> &'static Clock {
    // SAFETY: the kernel maps the page into every component, filled before the component runs; what
    // is written later is an atomic.
    unsafe { &*(CLOCK as *const Clock) }
}

/// A reading of the core's counter of time.
#[inline]
pub fn time_stamp() -> u64 {
    arch::time_stamp()
}

/// The point in time of a reading of the counter of time; the start of the run for readings before it.
#[inline]
pub fn instant(time_stamp: u64) -> Instant {
    let clock = clock();
    Instant::from_nanos(nanos(clock, time_stamp.saturating_sub(clock.epoch)))
}

/// The reading of the counter of time at a point in time, rounded up.
#[inline]
pub fn reading(instant: Instant) -> u64 {
    let clock = clock();
    let ticks = if clock.shift == 0 && clock.multiplier == 1 {
        instant.as_nanos()
    } else {
        // Inverse of `nanos`, rounded up so that the time has come when the reading has.
        (u128::from(instant.as_nanos()) << clock.shift).div_ceil(u128::from(clock.multiplier)).min(u128::from(u64::MAX))
            as u64
    };
    clock.epoch.saturating_add(ticks)
}

#[inline]
fn nanos(clock: &Clock, ticks: u64) -> u64 {
    if clock.shift == 0 && clock.multiplier == 1 {
        return ticks;
    }
    ((u128::from(ticks) * u128::from(clock.multiplier)) >> clock.shift) as u64
}

/// Now.
#[inline]
pub fn now() -> Instant {
    instant(time_stamp())
}

/// Nanoseconds in so many ticks.
#[inline]
pub fn ticks_to_nanos(ticks: u64) -> u64 {
    nanos(clock(), ticks)
}

/// How the cores of the machine execute: see [`tactus_abi::shared::slices`].
#[inline]
pub fn slices() -> u64 {
    clock().slices.load(core::sync::atomic::Ordering::Relaxed)
}
