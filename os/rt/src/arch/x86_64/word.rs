//! Words that the kernel writes as well, on this core: one instruction is not interrupted in its middle.

use core::arch::asm;
use core::sync::atomic::{compiler_fence, Ordering};

/// Takes what stands there and leaves zero. In one instruction.
///
/// # Safety
/// `place` is valid for reads and writes.
#[inline(always)]
pub unsafe fn take(place: *mut u64) -> u64 {
    let taken;
    // SAFETY: promised by the caller.
    unsafe {
        asm!("xchg [{at}], {taken}", at = in(reg) place, taken = inout(reg) 0_u64 => taken, options(nostack, preserves_flags))
    };
    taken
}

/// Clears all bits but those of `REST`. In one instruction.
///
/// # Safety
/// As for [`take`].
#[inline(always)]
pub unsafe fn keep_only<const REST: i16>(place: *mut u16) {
    // SAFETY: promised by the caller.
    unsafe { asm!("and word ptr [{at}], {rest}", at = in(reg) place, rest = const REST, options(nostack)) };
}

/// The same address, of which the compiler no longer knows how it was found: it keeps one, not one for each field.
#[inline(always)]
pub fn opaque(mut address: u64) -> u64 {
    // SAFETY: no instruction, and the register has the value that it had.
    unsafe { asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags)) };
    address
}

/// What was written before becomes visible before what is written after. Stores of this processor do so in their order; the compiler is
/// kept from moving them.
#[inline(always)]
pub fn before_stores() {
    compiler_fence(Ordering::Release);
}
