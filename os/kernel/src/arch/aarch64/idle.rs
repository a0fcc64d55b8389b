//! What a core does that has nothing to run.
//!
//! It waits for an interrupt. On an emulated machine with counted instructions the one core lets the time pass by executing: else the
//! emulator would move its clock by itself, in a thread whose order with the core's last instructions is the host's.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the machine has one core that counts its instructions.
static COUNTED: AtomicBool = AtomicBool::new(false);

/// Tells how many cores there are and whether they share one counted time, before the run begins.
pub fn set_up(cores: usize, counted: bool) {
    COUNTED.store(counted && cores == 1, Relaxed);
}

/// The core was interrupted while it had nothing to run.
pub fn wake() {}

/// Waits for an interrupt. It does not come back here: the way out of the kernel restarts.
pub fn wait(_core: u64, _expiry: u64) -> ! {
    let counted = COUNTED.load(Relaxed);
    // SAFETY: nothing is left to do with interrupts off; whoever interrupts the idle core takes the stack.
    unsafe { asm!("msr daifclr, #2", options(nomem, nostack)) };
    loop {
        if counted {
            block();
        } else {
            // SAFETY: as above.
            unsafe { asm!("wfi", options(nomem, nostack)) }
        }
    }
}

/// As many instructions as the emulator translates at once.
#[inline(always)]
fn block() {
    // SAFETY: they do nothing.
    unsafe { asm!(".rept 480", "nop", ".endr", options(nomem, nostack, preserves_flags)) }
}
