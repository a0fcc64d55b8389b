//! Work that takes an exact number of instructions. On one core of the emulated machine an instruction is a cycle.

/// Works for this many instructions, an even number of at least two.
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

/// The most instructions that [`execute`] can execute.
pub const MOST_INSTRUCTIONS: u64 = 1_536;

/// Executes this many instructions, at most [`MOST_INSTRUCTIONS`], and always the same few more. No branch depends on the
/// number.
#[inline(always)]
pub fn execute(instructions: u64) {
    let instructions = instructions.min(MOST_INSTRUCTIONS);
    // SAFETY: the row has one byte for each instruction, as many as the number can be. The jump therefore goes to an
    // instruction of the row or to its end. Nothing but two registers that are declared, and the flags, changes.
    unsafe {
        core::arch::asm!(
            "lea {at}, [rip + 3f]",
            "sub {at}, {instructions}",
            "jmp {at}",
            ".rept {most}",
            ".byte 0x90",
            ".endr",
            "3:",
            at = out(reg) _,
            instructions = in(reg) instructions,
            most = const MOST_INSTRUCTIONS,
            options(nomem, nostack),
        );
    }
}

/// Executes a row of instructions that do nothing: what an emulator executes fastest.
#[inline(always)]
pub fn row() {
    // SAFETY: does nothing, slowly.
    unsafe { core::arch::asm!(".rept 64", "nop", ".endr", options(nomem, nostack, preserves_flags)) };
}
