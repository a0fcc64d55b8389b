//! Work that takes an exact number of instructions. On one core of the emulated machine an instruction is a cycle.

/// Works for so many instructions, an even number of at least two.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn count_down(instructions: u64) {
    // SAFETY: counts a register down and touches nothing else.
    unsafe {
        core::arch::asm!(
            "2: sub {left}, 2",
            "jnz 2b",
            left = inout(reg) instructions => _,
            options(nomem, nostack),
        );
    }
}
