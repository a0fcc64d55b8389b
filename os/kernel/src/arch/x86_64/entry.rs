//! The ways into the kernel and out of it.
//!
//! The code itself is assembly, in pieces under `entry/`; what it knows of the kernel's tables is named by
//! `layout.rs`, so that nothing in here knows them.
//!
//! | Piece | Idea |
//! |---|---|
//! | `macros.s` | what the others share |
//! | `calls.s`, `wide.s` | invocation and return, with five words and with ten |
//! | `dispatch.s` | the root's dispatch; the way to the kernel's Rust for calls that are not done here |
//! | `timer.s` | interrupts and faults; the root's time-out and the core's tick |
//! | `lines.s` | interrupts of lines that release jobs |
//! | `leave.s` | the way out |
//! | `traps.s` | the vectors |
//!
//! Every thread's registers lie at the head of its `Thread`. An interrupt or fault saves all of them
//! straight there: while a thread runs, the task state segment holds the *end* of that area as the stack to switch to.
//!
//! A call saves only where to go on, since a caller expects nothing else back ([`tactus_abi::call`]). What the saved
//! registers hold is told by [`Registers::vector`](super::registers::Registers::vector): for [`VECTOR_CALL`](super::registers::VECTOR_CALL) and [`VECTOR_PASS`](super::registers::VECTOR_PASS) only a few of them count, and
//! on the way out every other register is cleared, so that nothing of another component, of an older interrupt or of
//! the kernel is left in them.
//!
//! Invocation and return that nothing stands in the way of are done right here, without leaving the assembly: the same
//! checks as in `call.rs`, which takes over as soon as one fails, and finds everything unchanged.
//!
//! `sysret` is safe since every `rip` that it is given is below [`super::paging::USER_END`]: it follows an instruction of
//! a mapped page, or was checked when the image was read. Flags are the kernel's constant.
//!
//! The kernel itself runs on the core's own stack, with interrupts off, and leaves by loading the registers of whichever
//! thread it chose. A core with nothing to run waits inside the kernel; an interrupt there has nothing to save.

use core::arch::asm;

/// Assembles the ways in and out, given the types of a thread and of a core and where the kernel's tables are.
macro_rules! ways_in_and_out {
    ($thread:ty, $frame:ty, $core:ty, $($tables:tt)*) => {
        core::arch::global_asm!(
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/macros.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/calls.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/wide.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/dispatch.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/timer.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/lines.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/leave.s")),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/arch/x86_64/entry/traps.s")),
            region_pending = const core::mem::offset_of!(tactus_abi::shared::Region, event_pending),
            call_invoke = const tactus_abi::call::Call::Invoke as u64,
            call_return = const tactus_abi::call::Call::Return as u64,
            call_switch = const tactus_abi::call::Call::SwitchThread as u64,
            call_invoke_wide = const tactus_abi::call::Call::InvokeWide as u64,
            call_return_wide = const tactus_abi::call::Call::ReturnWide as u64,
            call_trigger = const tactus_abi::call::Call::Trigger as u64,
            call_upcall_done = const tactus_abi::call::Call::UpcallDone as u64,
            max_grants = const tactus_abi::layout::MAX_GRANTS,
            max_invocations = const tactus_abi::layout::MAX_INVOCATIONS,
            thread_rax = const core::mem::offset_of!($thread, registers.rax),
            thread_rip = const core::mem::offset_of!($thread, registers.rip),
            thread_rdi = const core::mem::offset_of!($thread, registers.rdi),
            thread_rsi = const core::mem::offset_of!($thread, registers.rsi),
            thread_rdx = const core::mem::offset_of!($thread, registers.rdx),
            thread_r10 = const core::mem::offset_of!($thread, registers.r10),
            thread_r8 = const core::mem::offset_of!($thread, registers.r8),
            thread_r9 = const core::mem::offset_of!($thread, registers.r9),
            thread_rbx = const core::mem::offset_of!($thread, registers.rbx),
            thread_r12 = const core::mem::offset_of!($thread, registers.r12),
            thread_r13 = const core::mem::offset_of!($thread, registers.r13),
            thread_r14 = const core::mem::offset_of!($thread, registers.r14),
            thread_r15 = const core::mem::offset_of!($thread, registers.r15),
            thread_rsp = const core::mem::offset_of!($thread, registers.rsp),
            thread_vector = const core::mem::offset_of!($thread, registers.vector),
            vector = const core::mem::offset_of!($crate::arch::processor::registers::Registers, vector),
            rip = const core::mem::offset_of!($crate::arch::processor::registers::Registers, rip),
            rsp = const core::mem::offset_of!($crate::arch::processor::registers::Registers, rsp),
            rax = const core::mem::offset_of!($crate::arch::processor::registers::Registers, rax),
            rdi = const core::mem::offset_of!($crate::arch::processor::registers::Registers, rdi),
            rsi = const core::mem::offset_of!($crate::arch::processor::registers::Registers, rsi),
            rdx = const core::mem::offset_of!($crate::arch::processor::registers::Registers, rdx),
            user_flags = const $crate::arch::processor::registers::USER_FLAGS,
            barriers = sym $crate::arch::processor::speculation::BARRIERS,
            prediction_command = const $crate::arch::processor::speculation::PREDICTION_COMMAND,
            gs_base = const $crate::arch::processor::descriptors::GS_BASE,
            vector_call = const $crate::arch::processor::registers::VECTOR_CALL,
            vector_switched = const $crate::arch::processor::registers::VECTOR_SWITCHED,
            switch_done = const tactus_abi::call::SWITCH_UPCALL_DONE,
            switch_return = const tactus_abi::call::SWITCH_RETURN,
            reason_scheduler = const tactus_abi::call::reason::SCHEDULER,
            no_timeout = const tactus_abi::call::NO_TIMEOUT as i64,
            event_timer = const tactus_abi::shared::event::TIMER,
            longest_count = const $crate::arch::processor::apic::LONGEST_COUNT,
            apic = const $crate::arch::processor::paging::DIRECT + $crate::arch::processor::apic::BASE,
            apic_registers = const $crate::arch::processor::apic::REGISTERS,
            has_registers = const $crate::arch::processor::apic::HAS_REGISTERS as u64,
            apic_end = const $crate::arch::processor::apic::END_OF_INTERRUPT,
            apic_initial_count = const $crate::arch::processor::apic::INITIAL_COUNT,
            direct = const $crate::arch::processor::paging::DIRECT,
            lines = const $crate::arch::processor::registers::LINES,
            vector_lines = const $crate::arch::processor::registers::VECTOR_LINES,
            line_controller = sym $crate::arch::processor::lines::CONTROLLER,
            line_controller_value = const $crate::arch::processor::lines::VALUE,
            line_silencing = sym $crate::arch::processor::lines::SILENCING,
            event_line = const tactus_abi::shared::event::LINE,
            region_lines = const core::mem::offset_of!(tactus_abi::shared::Region, lines),
            region_line_times = const core::mem::offset_of!(tactus_abi::shared::Region, line_times),
            awake = sym $crate::arch::processor::idle::AWAKE,
            clock_keeper = sym $crate::arch::processor::idle::CLOCK_KEEPER,
            region_idle = const core::mem::offset_of!(tactus_abi::shared::Region, idle),
            region_events = const core::mem::offset_of!(tactus_abi::shared::Region, events),
            region_entries = const core::mem::offset_of!(tactus_abi::shared::Region, entries),
            region_next = const core::mem::offset_of!(tactus_abi::shared::Region, next_thread),
            region_own = const core::mem::offset_of!(tactus_abi::shared::Region, own),
            region_dispatches = const core::mem::offset_of!(tactus_abi::shared::Region, dispatches),
            region_slots = const core::mem::offset_of!(tactus_abi::shared::Region, slots),
            slot_next = const core::mem::offset_of!(tactus_abi::shared::Slot, next),
            slot_flags = const core::mem::offset_of!(tactus_abi::shared::Slot, flags),
            slot_cycles = const core::mem::offset_of!(tactus_abi::shared::Slot, cycles),
            max_threads = const tactus_abi::layout::MAX_THREADS,
            registers_bytes = const core::mem::size_of::<$crate::arch::processor::registers::Registers>(),
            save_area = const core::mem::offset_of!($core, processor) + $crate::arch::processor::descriptors::SAVE_AREA,
            scratch = const core::mem::offset_of!($core, head.scratch),
            kernel_stack = const core::mem::offset_of!($core, head.kernel_stack),
            no_selector = const core::mem::offset_of!($core, head.no_selector),
            aside = const core::mem::offset_of!($core, head.aside),
            frame_rip = const core::mem::offset_of!($frame, instruction),
            frame_rsp = const core::mem::offset_of!($frame, stack),
            $($tables)*
        );
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
    unsafe { asm!("jmp resume", options(noreturn)) }
}
