//! Instructions that do nothing and hold a number: whoever follows the machine instruction by instruction reads it
//! (`os/components/bench-book`).

core::arch::global_asm!(
    ".pushsection .text.tactus_marks, \"ax\"",
    ".balign 8",
    "tactus_marks:",
    ".set tactus_mark, 0",
    ".rept 128",
    ".byte 0x0f, 0x1f, 0x80",
    ".long 0x7ac70000 + tactus_mark",
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
        core::arch::asm!("lea {at}, [rip + tactus_marks]", "lea {at}, [{at} + {number} * 8]", "call {at}",
            at = out(reg) _, number = in(reg) number % 128);
    }
}
