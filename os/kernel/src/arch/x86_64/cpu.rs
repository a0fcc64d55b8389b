//! The few instructions that the rest of the kernel asks for by name.

use super::port::out8;
use core::arch::asm;

/// The time-stamp counter.
pub fn time_stamp() -> u64 {
    // SAFETY: reading the counter has no effect.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Stops the core for good.
pub fn halt() -> ! {
    loop {
        // SAFETY: nothing runs on the core any more.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) }
    }
}

/// Ends the run: the emulator leaves with the code, a real machine stops.
pub fn end(code: u8) -> ! {
    out8(0xf4, code);
    halt()
}

/// Copies words, and writes zeros behind them. By words: an emulator counts one instruction for each element.
///
/// # Safety
/// The words can be read, all places can be written, and nobody else uses them.
pub unsafe fn copy_and_clear(to: *mut u64, from: *const u64, words: u64, zeros: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        asm!("rep movsq", "mov rcx, {zeros}", "rep stosq", zeros = in(reg) zeros, inout("rcx") words => _,
            inout("rdi") to => _, inout("rsi") from => _, in("rax") 0, options(nostack, preserves_flags));
    }
}
