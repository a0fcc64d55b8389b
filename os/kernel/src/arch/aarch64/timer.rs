//! The core's one-shot timer: the virtual one, which compares with the counter of time.

use super::cpu::time_stamp;
use core::arch::asm;

/// As far as it is set by a count.
pub const LONGEST: u32 = u32::MAX;

/// Starts it for this many counts; zero stops it.
pub fn start(counts: u32) {
    match counts {
        // SAFETY: stops the core's own timer.
        0 => unsafe { asm!("msr cntv_ctl_el0, xzr", options(nostack, preserves_flags)) },
        _ => start_until(time_stamp() + u64::from(counts)),
    }
}

/// Starts it for the instant (counts of the counter of time). One that is past interrupts at once.
pub fn start_until(instant: u64) {
    // SAFETY: sets the core's own timer.
    unsafe {
        asm!("msr cntv_cval_el0, {instant}", "msr cntv_ctl_el0, {on}", instant = in(reg) instant, on = in(reg) 1_u64,
            options(nostack, preserves_flags));
    }
}
