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
    unsafe {
        asm!("mov {taken:e}, [{word}]", "mov dword ptr [{word}], 0", word = in(reg) place, taken = out(reg) taken)
    };
    taken
}

/// Reads a byte anywhere.
#[inline(always)]
pub fn read_anywhere(address: u64) -> u8 {
    let byte;
    // SAFETY: reads, and what was read means nothing to Rust.
    unsafe {
        asm!("mov {byte}, [{address}]", address = in(reg) address, byte = out(reg_byte) byte, options(readonly, nostack))
    };
    byte
}

/// An instruction of the floating-point unit that does nothing.
#[inline(always)]
pub fn touch_floating_point() {
    // SAFETY: does nothing, and faults where the unit is shut.
    unsafe { asm!("fnop", options(nomem, nostack, preserves_flags)) };
}

/// Whether every register that a call does not give back comes back cleared. Set to ones before.
pub fn comes_back_clean(call: u64, grant: u64) -> bool {
    let left: u64;
    // SAFETY: both calls end here again; `rbx` and `rbp` are put back, all others are declared.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov rbx, -1",
            "mov rbp, -1",
            "syscall",
            "or rdx, rbx",
            "or rdx, rbp",
            "or rdx, r8",
            "or rdx, r9",
            "or rdx, r10",
            "or rdx, r12",
            "or rdx, r13",
            "or rdx, r14",
            "or rdx, r15",
            "pop rbp",
            "pop rbx",
            inout("rax") call => _,
            inout("rdi") grant => _,
            inout("rsi") u64::MAX => _,
            inout("rdx") u64::MAX => left,
            inout("r8") u64::MAX => _,
            inout("r9") u64::MAX => _,
            inout("r10") u64::MAX => _,
            inout("r12") u64::MAX => _,
            inout("r13") u64::MAX => _,
            inout("r14") u64::MAX => _,
            inout("r15") u64::MAX => _,
            out("rcx") _,
            out("r11") _,
        );
    }
    left == 0
}
