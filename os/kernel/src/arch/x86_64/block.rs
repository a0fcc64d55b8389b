//! The head of a core's block, which the entry code finds by the GS base.

pub use super::descriptors::{set_up_calls, Descriptors as Processor, FAULT_STACKS};
use core::arch::asm;

/// The head of a core's block. Known to the entry code.
#[repr(C)]
pub struct Head {
    /// The block's own address.
    pub this: u64,
    /// Upper end of the core's kernel stack.
    pub kernel_stack: u64,
    /// A place to put one register.
    pub scratch: u64,
    /// Places to put three more.
    pub aside: [u64; 3],
    /// Zero: a segment without meaning.
    pub no_selector: u64,
}

impl Head {
    /// Of a block that is not in use yet.
    pub const EMPTY: Head = Head::new(0, 0);

    /// Of the block at this address.
    pub const fn new(this: u64, kernel_stack: u64) -> Head {
        Head { this, kernel_stack, scratch: 0, aside: [0; 3], no_selector: 0 }
    }
}

/// The address of the current core's block, which is its first field.
///
/// # Safety
/// Only inside the kernel after the core's descriptors were set up: GS holds the block's address then.
#[inline(always)]
pub unsafe fn current<T>() -> *mut T {
    let this: *mut T;
    // SAFETY: promised by the caller.
    unsafe { asm!("mov {}, gs:[0]", out(reg) this, options(nostack, preserves_flags, readonly)) }
    this
}
