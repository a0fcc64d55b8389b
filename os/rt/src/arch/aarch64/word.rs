//! Words that the kernel writes as well, on this core. This processor has no single instruction for what is done here: an exclusive
//! store fails if the kernel was entered since the load, since every way out of it clears the core's claim, and then both are done again.

use core::arch::asm;

/// Takes what stands there and leaves zero. As if in one instruction.
///
/// # Safety
/// `place` is valid for reads and writes.
#[inline(always)]
pub unsafe fn take(place: *mut u64) -> u64 {
    let taken;
    // SAFETY: promised by the caller.
    unsafe {
        asm!("2: ldaxr {taken}, [{at}]", "stlxr {failed:w}, xzr, [{at}]", "cbnz {failed:w}, 2b", at = in(reg) place,
            taken = out(reg) taken, failed = out(reg) _, options(nostack, preserves_flags))
    };
    taken
}

/// Clears all bits but those of `REST`. As if in one instruction.
///
/// # Safety
/// As for [`take`].
#[inline(always)]
pub unsafe fn keep_only<const REST: i16>(place: *mut u16) {
    // SAFETY: promised by the caller.
    unsafe {
        asm!("2: ldxrh {word:w}, [{at}]", "and {word:w}, {word:w}, {rest:w}", "stxrh {failed:w}, {word:w}, [{at}]",
            "cbnz {failed:w}, 2b", at = in(reg) place, rest = in(reg) REST, word = out(reg) _, failed = out(reg) _,
            options(nostack, preserves_flags))
    };
}

/// The same address, of which the compiler no longer knows how it was found: it keeps one, not one for each field.
#[inline(always)]
pub fn opaque(mut address: u64) -> u64 {
    // SAFETY: no instruction, and the register has the value that it had.
    unsafe { asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags)) };
    address
}

/// What was written before becomes visible before what is written after.
#[inline(always)]
pub fn before_stores() {
    // SAFETY: orders stores among all cores.
    unsafe { asm!("dmb ishst", options(nostack, preserves_flags)) };
}
