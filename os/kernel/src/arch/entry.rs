//! The ways into the kernel and out of it.
//!
//! The code itself is assembly, in pieces under `entry/`; what it knows of the kernel's tables is named at the end of this file.
//!
//! | Piece | Idea |
//! |---|---|
//! | `macros.s` | what the others share |
//! | `calls.s`, `wide.s` | invocation and return, with five words and with ten |
//! | `dispatch.s` | the root's dispatch; the way to the kernel's Rust for calls that are not done here |
//! | `timer.s` | interrupts and faults; the root's time-out and the core's tick |
//! | `leave.s` | the way out |
//! | `traps.s` | the vectors |
//!
//! Every thread's registers lie at the head of its [`crate::thread::Thread`]. An interrupt or fault saves all of them
//! straight there: while a thread runs, the task state segment holds the *end* of that area as the stack to switch to.
//!
//! A call saves only where to go on, since a caller expects nothing else back ([`tactus_abi::call`]). What the saved
//! registers hold is told by [`Registers::vector`]: for [`VECTOR_CALL`] and [`VECTOR_PASS`] only a few of them count, and
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

use super::apic;
use super::descriptors::SAVE_AREA;
use super::registers::*;
use crate::component::{self, Component, Grant};
use crate::percore::{Core, CORE_KERNEL_STACK, CORE_SCRATCH};
use crate::thread::{self, Frame, Thread};
use core::arch::global_asm;
use core::mem::{offset_of, size_of};
use tactus_abi::call::{Call, NO_TIMEOUT};
use tactus_abi::layout::{MAX_GRANTS, MAX_INVOCATIONS, MAX_THREADS};
use tactus_abi::shared::{Region, Slot};

global_asm!(
    include_str!("entry/macros.s"),
    include_str!("entry/calls.s"),
    include_str!("entry/wide.s"),
    include_str!("entry/dispatch.s"),
    include_str!("entry/timer.s"),
    include_str!("entry/leave.s"),
    include_str!("entry/traps.s"),
    scratch = const CORE_SCRATCH,
    kernel_stack = const CORE_KERNEL_STACK,
    current = const offset_of!(Core, current),
    regions = const offset_of!(Core, regions),
    space = const offset_of!(Core, space),
    core_caller = const offset_of!(Core, caller),
    region_pending = const offset_of!(Region, event_pending),
    call_invoke = const Call::Invoke as u64,
    call_return = const Call::Return as u64,
    call_switch = const Call::SwitchThread as u64,
    call_invoke_wide = const Call::InvokeWide as u64,
    call_return_wide = const Call::ReturnWide as u64,
    call_trigger = const Call::Trigger as u64,
    call_upcall_done = const Call::UpcallDone as u64,
    max_grants = const MAX_GRANTS,
    max_invocations = const MAX_INVOCATIONS,
    components = sym component::COMPONENTS,
    component_bytes = const size_of::<Component>(),
    component_grants = const offset_of!(Component, grants),
    component_special = const offset_of!(Component, special),
    component_space = const offset_of!(Component, space),
    component_entry = const offset_of!(Component, entry),
    component_special_inside = const offset_of!(Component, is_special_inside),
    grant_shift = const size_of::<Grant>().ilog2(),
    grant_entry = const offset_of!(Grant, entry),
    grant_component = const offset_of!(Grant, component),
    thread_component = const offset_of!(Thread, component),
    thread_depth = const offset_of!(Thread, depth),
    thread_frames = const offset_of!(Thread, frames),
    thread_caller = const offset_of!(Thread, caller),
    thread_fresh_stack = const offset_of!(Thread, fresh_stack),
    frame_rip = const offset_of!(Frame, rip),
    frame_rsp = const offset_of!(Frame, rsp),
    frame_component = const offset_of!(Frame, component),
    thread_rax = const offset_of!(Thread, registers.rax),
    thread_rip = const offset_of!(Thread, registers.rip),
    thread_rdi = const offset_of!(Thread, registers.rdi),
    thread_rsi = const offset_of!(Thread, registers.rsi),
    thread_rdx = const offset_of!(Thread, registers.rdx),
    thread_r10 = const offset_of!(Thread, registers.r10),
    thread_r8 = const offset_of!(Thread, registers.r8),
    last_recorded = const ((crate::thread::RECORDED as u32) << 16) | 0xffff,
    thread_r9 = const offset_of!(Thread, registers.r9),
    thread_rbx = const offset_of!(Thread, registers.rbx),
    thread_r12 = const offset_of!(Thread, registers.r12),
    thread_r13 = const offset_of!(Thread, registers.r13),
    thread_r14 = const offset_of!(Thread, registers.r14),
    thread_r15 = const offset_of!(Thread, registers.r15),
    thread_rsp = const offset_of!(Thread, registers.rsp),
    thread_vector = const offset_of!(Thread, registers.vector),
    vector = const offset_of!(Registers, vector),
    rip = const offset_of!(Registers, rip),
    rsp = const offset_of!(Registers, rsp),
    rax = const offset_of!(Registers, rax),
    rdi = const offset_of!(Registers, rdi),
    rsi = const offset_of!(Registers, rsi),
    rdx = const offset_of!(Registers, rdx),
    user_flags = const USER_FLAGS,
    barriers = sym super::speculation::BARRIERS,
    prediction_command = const super::speculation::PREDICTION_COMMAND,
    no_selector = const offset_of!(Core, no_selector),
    aside = const offset_of!(Core, aside),
    gs_base = const super::descriptors::GS_BASE,
    vector_call = const VECTOR_CALL,
    vector_switched = const VECTOR_SWITCHED,
    switch_done = const tactus_abi::call::SWITCH_UPCALL_DONE,
    switch_return = const tactus_abi::call::SWITCH_RETURN,
    reason_scheduler = const tactus_abi::call::reason::SCHEDULER,
    no_timeout = const NO_TIMEOUT as i64,
    event_timer = const tactus_abi::shared::event::TIMER,
    plain_timer = sym crate::machine::PLAIN_TIMER,
    longest_count = const apic::LONGEST_COUNT,
    apic = const super::paging::DIRECT + apic::BASE,
    apic_end = const apic::END_OF_INTERRUPT,
    apic_initial_count = const apic::INITIAL_COUNT,
    awake = sym super::idle::AWAKE,
    clock_keeper = sym super::idle::CLOCK_KEEPER,
    expiry = const offset_of!(Core, expiry),
    idle = const offset_of!(Core, idle),
    region_idle = const offset_of!(Region, idle),
    region_events = const offset_of!(Region, events),
    region_entries = const offset_of!(Region, entries),
    root = const offset_of!(Core, root),
    region = const offset_of!(Core, region),
    region_next = const offset_of!(Region, next_thread),
    region_own = const offset_of!(Region, own),
    region_dispatches = const offset_of!(Region, dispatches),
    region_slots = const offset_of!(Region, slots),
    slot_next = const offset_of!(Slot, next),
    slot_flags = const offset_of!(Slot, flags),
    slot_cycles = const offset_of!(Slot, cycles),
    tails = const offset_of!(Core, tails),
    upcall = const offset_of!(Core, upcall),
    mark = const offset_of!(Core, mark),
    entered = const offset_of!(Core, entered),
    charged = const offset_of!(Core, charged),
    deferred = const offset_of!(Core, deferred),
    levels = const offset_of!(Core, levels),
    timeouts = const offset_of!(Core, timeouts),
    tick = const offset_of!(Core, tick),
    armed = const offset_of!(Core, armed),
    save_area = const offset_of!(Core, descriptors) + SAVE_AREA,
    checked = const cfg!(feature = "check") as u64,
    max_threads = const MAX_THREADS,
    threads = sym thread::THREADS,
    thread_bytes = const size_of::<Thread>(),
    thread_owner = const thread::OWNER,
    thread_state = const thread::STATE,
    state_inactive = const thread::state::INACTIVE,
    state_scheduler = const thread::state::SCHEDULER,
    state_upcall = const thread::state::SCHEDULER | thread::state::INACTIVE,
    thread_id = const offset_of!(Thread, id),
    thread_argument = const offset_of!(Thread, argument),
    thread_counted = const offset_of!(Thread, counted),
    thread_used = const offset_of!(Thread, used),
    thread_preempter = const offset_of!(Thread, preempter),
    thread_path = const thread::PATH_USED,
    registers_bytes = const size_of::<Registers>(),
);

// What the assembly above takes for granted: places are found by shifting, and by three words for a frame.
const _: () = assert!(size_of::<Slot>() == 24 && tactus_abi::shared::slot::LINKED == 1);
const _: () = assert!(thread::STATE % 8 == 0 && thread::OWNER == thread::STATE + 4);
const _: () = assert!(size_of::<Grant>().is_power_of_two() && size_of::<Frame>() == 24);
// An invocation writes the component and clears the mark beside it in one piece.
const _: () = assert!(offset_of!(Frame, recorded) == offset_of!(Frame, component) + 2);
