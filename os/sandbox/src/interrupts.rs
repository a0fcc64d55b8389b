//! Interrupts that came while a kernel ran. One that no mask holds back is taken here, or it would stop the kernel again at its next
//! instruction; those that wait for a dead kernel are taken, or the next one would have them.

use core::arch::{asm, global_asm};
use core::cell::UnsafeCell;

global_asm!(
    r#"
.text
monitor_interrupt:
    iretq
"#
);

extern "C" {
    fn monitor_interrupt();
}

const NOT_MASKABLE: usize = 2;
/// Vectors below are of exceptions, and of nothing else that waits.
const FIRST: usize = 16;

#[repr(C, align(16))]
struct Gates(UnsafeCell<[[u64; 2]; 256]>);

// SAFETY: written before the kernel runs, by the only core; read by the processor alone after that.
unsafe impl Sync for Gates {}

static GATES: Gates = Gates(UnsafeCell::new([[0; 2]; 256]));

/// Gives the processor the handler.
pub fn set_up() {
    let address = monitor_interrupt as *const () as u64;
    let low = address & 0xffff | 8 << 16 | 0x8e00 << 32 | (address >> 16 & 0xffff) << 48;
    let bytes = size_of::<Gates>() as u16 - 1;
    let mut pointer = [0_u8; 10];
    pointer[..2].copy_from_slice(&bytes.to_le_bytes());
    pointer[2..].copy_from_slice(&(GATES.0.get() as u64).to_le_bytes());
    // SAFETY: nothing else uses the table, which stays where it is.
    unsafe {
        // Not for exceptions: of these the monitor has none.
        for vector in (NOT_MASKABLE..=NOT_MASKABLE).chain(FIRST..256) {
            (*GATES.0.get())[vector] = [low, address >> 32];
        }
        asm!("lidt [{}]", in(reg) &pointer, options(nostack, preserves_flags));
    }
}

/// Takes what waits: for a moment the processor lets in what no mask holds back.
pub fn take() {
    // SAFETY: the handler changes nothing; other interrupts are masked.
    unsafe { asm!("stgi", "nop", "clgi", options(preserves_flags)) }
}

/// Takes what waits, masked or not. Whose end is told to the interrupt controller later.
pub fn take_all() {
    // SAFETY: as above.
    unsafe { asm!("stgi", "sti", "nop", "nop", "cli", "clgi") }
}
