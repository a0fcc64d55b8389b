//! The time-stamp counter.

/// A reading of it.
#[inline(always)]
pub fn time_stamp() -> u64 {
    // SAFETY: reading the counter has no effect.
    unsafe { core::arch::x86_64::_rdtsc() }
}
