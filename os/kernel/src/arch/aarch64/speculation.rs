//! Processors that execute ahead of themselves: which of them leak the kernel's memory.
//!
//! The kernel's half is in force while components run. A processor that lets EL0 read it ahead (variant 3, Meltdown) is refused, unless the
//! system file accepts that. The predictor of branches is cleared by firmware only, which this kernel does not call.

use core::arch::asm;

/// Part numbers of Arm's own cores without the fault, by Arm's list: Cortex-A53, A35, A55, A57, A72, A73.
const WITHOUT: [u64; 6] = [0xd03, 0xd04, 0xd05, 0xd07, 0xd08, 0xd09];

/// Whether the processor may have Meltdown: all may but those that say so themselves (ID_AA64PFR0_EL1.CSV3) and those of the list.
pub fn has_meltdown() -> bool {
    let (features, part): (u64, u64);
    // SAFETY: reading the registers has no effect.
    unsafe {
        asm!("mrs {}, id_aa64pfr0_el1", "mrs {}, midr_el1", out(reg) features, out(reg) part,
            options(nomem, nostack, preserves_flags));
    }
    let by_arm = part >> 24 & 0xff == 0x41;
    features >> 60 == 0 && !(by_arm && WITHOUT.contains(&(part >> 4 & 0xfff)))
}

/// There are no barriers; see above.
pub fn use_barriers() -> bool {
    false
}

/// Nothing is to be set up.
pub fn set_up_core() {}

/// Another component begins.
pub fn component_changes() {}
