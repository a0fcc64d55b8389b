//! Instructions for components that test the kernel: what no compiler makes of a program of good will.

use core::arch::asm;

/// Takes what stands there and leaves zero, in two instructions that the kernel does not know.
///
/// # Safety
/// `place` is valid for reads and writes.
#[inline(always)]
pub unsafe fn take_word(place: *mut u32) -> u32 {
    let taken;
    // SAFETY: promised by the caller.
    unsafe { asm!("ldr {taken:w}, [{word}]", "str wzr, [{word}]", word = in(reg) place, taken = out(reg) taken) };
    taken
}

/// Reads a byte anywhere.
#[inline(always)]
pub fn read_anywhere(address: u64) -> u8 {
    let byte: u64;
    // SAFETY: reads, and what was read means nothing to Rust.
    unsafe {
        asm!("ldrb {byte:w}, [{address}]", address = in(reg) address, byte = out(reg) byte, options(readonly, nostack))
    };
    byte as u8
}

/// An instruction of the floating-point unit that does nothing that counts: it reads a register of it.
#[inline(always)]
pub fn touch_floating_point() {
    // SAFETY: reads, and faults where the unit is shut. FMOV x0, d0.
    unsafe { asm!(".inst 0x9e660000", out("x0") _, options(nomem, nostack, preserves_flags)) };
}

/// Whether every register that a call does not give back comes back cleared. Set to ones before.
pub fn comes_back_clean(call: u64, grant: u64) -> bool {
    let left: u64;
    // SAFETY: both calls end here again; `x19` and `x29` are put back, all others are declared.
    unsafe {
        asm!(
            "stp x19, x29, [sp, #-16]!",
            ".irp register, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30",
            "mov x\\register, #-1",
            ".endr",
            "svc #0",
            ".irp register, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30",
            "orr x2, x2, x\\register",
            ".endr",
            "ldp x19, x29, [sp], #16",
            inout("x8") call => _,
            inout("x0") grant => _,
            inout("x1") u64::MAX => _,
            inout("x2") u64::MAX => left,
            out("x20") _,
            out("x21") _,
            out("x22") _,
            out("x23") _,
            out("x24") _,
            out("x25") _,
            out("x26") _,
            out("x27") _,
            out("x28") _,
            clobber_abi("C"),
        );
    }
    left == 0
}
