//! Instructions that do nothing and hold a number: whoever follows the machine instruction by instruction reads it
//! (`os/components/bench-book`). Here it is a move of the number into the register that is always zero.

core::arch::global_asm!(
    ".pushsection .text.tactus_marks, \"ax\"",
    ".balign 8",
    "tactus_marks:",
    ".set tactus_mark, 0",
    ".rept 128",
    // movz xzr, #0x7a00 + number
    ".inst 0xd280001f + ((0x7a00 + tactus_mark) << 5)",
    "ret",
    ".set tactus_mark, tactus_mark + 1",
    ".endr",
    ".popsection",
);

/// Executes the instruction that marks this number, which is below 128.
#[inline(always)]
pub fn mark(number: u64) {
    // SAFETY: the table above has 128 places of eight bytes, each of which comes back and changes nothing.
    unsafe {
        core::arch::asm!("adrp {at}, tactus_marks", "add {at}, {at}, :lo12:tactus_marks", "add {at}, {at}, {number}, lsl #3",
            "blr {at}", at = out(reg) _, number = in(reg) number % 128, out("x30") _);
    }
}
