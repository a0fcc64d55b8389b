//! The few instructions that the rest of the kernel asks for by name.

use super::loader;
use core::arch::asm;

/// The virtual counter. It may be read a few instructions early: whoever needs an order with something else has one by other means.
#[inline(always)]
pub fn time_stamp() -> u64 {
    let count: u64;
    // SAFETY: reading the counter has no effect.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) }
    count
}

/// PSCI's number for switching the machine off.
const SYSTEM_OFF: u64 = 0x8400_0008;

/// Ends the run: the emulator leaves with the code, if it has said that it takes one (semihosting); any other machine is switched off.
pub fn end(code: u8) -> ! {
    // The reason: the application ends; behind it its status.
    let block: [u64; 2] = [0x2_0026, code.into()];
    // SAFETY: nothing runs on the core any more.
    unsafe {
        if loader::takes_exit_codes() {
            asm!("hlt #0xf000", in("w0") 0x18, in("x1") &block, options(nostack));
        }
        asm!("hvc #0", inout("x0") SYSTEM_OFF => _, options(nostack));
        loop {
            asm!("msr daifset, #0xf", "wfi", options(nomem, nostack));
        }
    }
}

/// Copies words, and writes zeros behind them.
///
/// # Safety
/// The words can be read, all places can be written, and nobody else uses them.
pub unsafe fn copy_and_clear(to: *mut u64, from: *const u64, words: u64, zeros: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        asm!(
            "cbz {words}, 3f",
            "2: ldr {word}, [{from}], #8",
            "str {word}, [{to}], #8",
            "subs {words}, {words}, #1",
            "b.ne 2b",
            "3: cbz {zeros}, 5f",
            "4: str xzr, [{to}], #8",
            "subs {zeros}, {zeros}, #1",
            "b.ne 4b",
            "5:",
            words = inout(reg) words => _,
            zeros = inout(reg) zeros => _,
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            word = out(reg) _,
            options(nostack),
        );
    }
}
