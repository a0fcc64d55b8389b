//! The head of a core's block, which the entry code finds by a register that components cannot reach.

use core::arch::asm;

/// The head of a core's block. Known to the entry code.
#[repr(C)]
pub struct Head {
    /// The block's own address.
    pub this: u64,
    /// Upper end of the core's kernel stack.
    pub kernel_stack: u64,
}

impl Head {
    /// Of a block that is not in use yet.
    pub const EMPTY: Head = Head::new(0, 0);

    /// Of the block at this address.
    pub const fn new(this: u64, kernel_stack: u64) -> Head {
        Head { this, kernel_stack }
    }
}

/// Faults that have a stack of their own on each core: those of the kernel itself.
pub const FAULT_STACKS: usize = 1;

/// What the processor is told of a core.
#[repr(C)]
pub struct Processor {
    fault_stack: u64,
}

/// Place of the upper end of the stack for faults of the kernel. Known to the entry code.
pub const FAULT_STACK: usize = core::mem::offset_of!(Processor, fault_stack);

extern "C" {
    fn vectors();
}

impl Processor {
    /// Not loaded yet.
    pub const EMPTY: Processor = Processor { fault_stack: 0 };

    /// Tells the current core where exceptions are handled. The kernel's stack is in use already, or is set on the first way out.
    ///
    /// # Safety
    /// `self` must stay where it is for ever; the stacks must be the core's own.
    pub unsafe fn load(&mut self, _kernel_stack: u64, fault_stacks: [u64; FAULT_STACKS]) {
        self.fault_stack = fault_stacks[0];
        // SAFETY: the vectors are complete and aligned as the register wants it.
        unsafe {
            asm!("msr vbar_el1, {}", "isb", in(reg) vectors as *const () as u64, options(nostack, preserves_flags))
        }
    }

    /// The entry code finds the thread by the core's block: nothing is to be set.
    #[inline(always)]
    pub fn set_save_area(&mut self, _end: u64) {}
}

/// The current core's block is this one; nothing of the processor but time can be read by components.
pub fn set_up_calls(block: u64) {
    // The virtual counter can be read at EL0, no timer touched (CNTKCTL_EL1.EL0VCTEN); counters of events and floating point are shut.
    const COUNTER: u64 = 2;
    // SAFETY: these registers exist on every processor, and take nothing from the kernel that it uses.
    unsafe {
        asm!("msr tpidr_el1, {block}", "msr cntkctl_el1, {counter}", "msr cpacr_el1, xzr", "msr mdscr_el1, xzr",
            "msr tpidr_el0, xzr", "msr tpidrro_el0, xzr", "isb", block = in(reg) block, counter = in(reg) COUNTER,
            options(nostack, preserves_flags));
        // There are counters of events where the processor says so (ID_AA64DFR0_EL1.PMUVer).
        let features: u64;
        asm!("mrs {}, id_aa64dfr0_el1", out(reg) features, options(nomem, nostack, preserves_flags));
        if !matches!(features >> 8 & 0xf, 0 | 0xf) {
            asm!("msr pmuserenr_el0, xzr", options(nomem, nostack, preserves_flags));
        }
    }
}

/// The address of the current core's block, which is its first field.
///
/// # Safety
/// Only inside the kernel after [`set_up_calls`].
#[inline(always)]
pub unsafe fn current<T>() -> *mut T {
    let this: *mut T;
    // SAFETY: promised by the caller.
    unsafe { asm!("mrs {}, tpidr_el1", out(reg) this, options(nomem, nostack, preserves_flags)) }
    this
}
