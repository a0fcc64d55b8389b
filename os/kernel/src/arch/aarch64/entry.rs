//! The ways into the kernel and out of it.
//!
//! The code itself is assembly, in pieces under `entry/`; what it knows of the kernel's tables is named by `layout.rs`.
//!
//! | Piece | Idea |
//! |---|---|
//! | `vectors.s` | the vectors; calls, interrupts and faults of threads, and of the kernel itself |
//! | `leave.s` | the way out |
//! | `left.s` | names of places that this processor's code does not need, since the kernel's Rust does what they are for |
//!
//! Every thread's registers lie at the head of its `Thread`. An interrupt or fault saves all of them straight there. A call saves the
//! registers with words, and where to go on: a caller expects nothing else back ([`tactus_abi::call`]). On the way out every register that
//! is not passed on is cleared, so that nothing of another component, of an older interrupt or of the kernel is left in one.
//!
//! The number of a call stands in x8, its words in x0 to x7 and x9 to x11; its status comes back in x8, and words where they went in.
//! The null call is done right here. All others are done by the kernel's Rust, which makes the same checks as the shorter ways that
//! another processor's entry code has.
//!
//! The kernel runs on the core's own stack, with interrupts off, and leaves by loading the registers of whichever thread it chose. The
//! stack pointer is at the stack's upper end whenever a component runs, since the way out sets it. A core with nothing to run waits
//! inside the kernel; an interrupt there has nothing to save.

use core::arch::asm;

/// Assembles the ways in and out, given the types of a thread and of a core and where the kernel's tables are.
macro_rules! ways_in_and_out {
    ($thread:ty, $frame:ty, $core:ty, $($tables:tt)*) => {
        core::arch::global_asm!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/aarch64/entry/vectors.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/aarch64/entry/leave.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/aarch64/entry/left.s")),
            call_invoke = const tactus_abi::call::Call::Invoke as u64,
            call_switch = const tactus_abi::call::Call::SwitchThread as u64,
            call_trigger = const tactus_abi::call::Call::Trigger as u64,
            call_upcall_done = const tactus_abi::call::Call::UpcallDone as u64,
            stack = const core::mem::offset_of!($crate::arch::processor::registers::Registers, stack),
            state = const core::mem::offset_of!($crate::arch::processor::registers::Registers, state),
            cause = const core::mem::offset_of!($crate::arch::processor::registers::Registers, cause),
            syndrome = const core::mem::offset_of!($crate::arch::processor::registers::Registers, syndrome),
            cause_call = const $crate::arch::processor::registers::CALL,
            synchronous = const $crate::arch::processor::registers::SYNCHRONOUS,
            system_error = const $crate::arch::processor::registers::SYSTEM_ERROR,
            unexpected = const $crate::arch::processor::registers::UNEXPECTED,
            kernel_stack = const core::mem::offset_of!($core, head.kernel_stack),
            fault_stack = const core::mem::offset_of!($core, processor) + $crate::arch::processor::block::FAULT_STACK,
            $($tables)*
        );
        // The registers are the first of a thread, and stand in pairs.
        const _: () = assert!(core::mem::offset_of!($thread, registers) == 0);
        const _: () = {
            use $crate::arch::processor::registers::Registers;
            assert!(core::mem::offset_of!(Registers, instruction) == core::mem::offset_of!(Registers, stack) + 8);
            assert!(core::mem::offset_of!(Registers, general) == 0);
        };
    };
}
pub(crate) use ways_in_and_out;

/// Leaves the kernel with the core's current thread.
///
/// # Safety
/// The core's block was set up and its current thread is complete; the stack in use is not needed any more.
#[inline(always)]
pub unsafe fn leave() -> ! {
    // SAFETY: promised by the caller.
    unsafe { asm!("b resume", options(noreturn)) }
}
