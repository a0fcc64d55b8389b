//! The virtual counter.

/// A reading of it.
#[inline(always)]
pub fn time_stamp() -> u64 {
    let count: u64;
    // SAFETY: reading the counter has no effect, and the kernel opens it to components.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) }
    count
}
