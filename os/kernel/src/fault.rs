//! Interrupts and faults: the machine's events on their way to the scheduler.

use crate::arch::descriptors::{DOUBLE_FAULT, MACHINE_CHECK, NON_MASKABLE};
use crate::arch::entry::{LINES, VECTOR_LINES, VECTOR_MAIL, VECTOR_NOTIFY, VECTOR_SPURIOUS, VECTOR_STOP, VECTOR_TIMER};
use crate::arch::percore::{self, Core, UNARMED};
use crate::arch::port::time_stamp;
use crate::arch::{apic, idle, paging};
use crate::call::unwind;
use crate::component;
use crate::dispatch::{
    arm, charge, enter, first_timeout, is_under, leave_kernel, leave_unnoted, post_root, take_timeouts,
};
use crate::region::Shared;
use crate::slice::{self, end_turn, start_timer};
use crate::thread::Thread;
use crate::{everywhere, restart, say, wire};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::layout::{STACKS, STACK_STRIDE};
use tactus_abi::shared::{cause, event, name_text, Fault};
use tactus_record::FaultKind;

/// An interrupt or fault at user level; the thread's registers are saved. Whoever is the core's current thread afterwards
/// goes on.
#[no_mangle]
extern "C" fn kernel_trap() {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block.
    let core = unsafe { percore::current() };
    core.entered = time_stamp();
    // SAFETY: a thread was running.
    let thread = unsafe { &mut *core.current };
    core.cause = cause::INTERRUPT + thread.registers.vector;
    leave_sequence(thread);
    match thread.registers.vector {
        vector if is_interrupt(vector) => interrupt(core, vector),
        vector => {
            let (kind, address) = describe(vector, thread);
            stop(core, kind, address)
        }
    }
}

/// Whoever was interrupted inside a restartable sequence of its component goes on at its beginning.
#[inline(always)]
pub fn leave_sequence(thread: &mut Thread) {
    let component = component::get(thread.component);
    if component.has_sequences {
        restart_sequence(&component.sequences, &mut thread.registers.rip);
    }
}

fn restart_sequence(sequences: &[[u64; 2]], rip: &mut u64) {
    if let Some([start, _]) = sequences.iter().find(|[start, end]| *start < *rip && *rip < *end) {
        *rip = *start;
    }
}

fn is_interrupt(vector: u64) -> bool {
    matches!(vector, VECTOR_TIMER | VECTOR_NOTIFY | VECTOR_STOP | VECTOR_MAIL | VECTOR_SPURIOUS)
        || (VECTOR_LINES..VECTOR_LINES + LINES).contains(&vector)
}

/// An interrupt of the idle core, or a fault in the kernel itself.
#[no_mangle]
extern "C" fn kernel_trap_inside(vector: u64, error: u64, rip: u64, address: u64) {
    // SAFETY: as above; the kernel's own code does not run with interrupts on except in the idle loop.
    let core = unsafe { percore::current() };
    core.entered = time_stamp();
    core.cause = cause::INTERRUPT + vector;
    idle::wake();
    match vector {
        vector if is_interrupt(vector) => interrupt(core, vector),
        _ => {
            let meaning = match vector as usize {
                NON_MASKABLE => ": an interrupt that cannot be masked, by which a machine reports an error",
                MACHINE_CHECK => ": the processor reports an error of the machine",
                DOUBLE_FAULT if percore::is_guard(address) => ": the kernel's stack is too small",
                _ => "",
            };
            say!(
                "tactus: kernel fault {vector} (error {error:#x}) at {rip:#x}, address {address:#x}, core {}{meaning}",
                core.id
            );
            crate::end(crate::END_KERNEL_FAULT)
        }
    }
}

/// The core has nothing to run.
#[no_mangle]
extern "C" fn kernel_idle() -> ! {
    // SAFETY: as above.
    idle::wait(unsafe { percore::current() })
}

/// What an interrupt comes to: a time-out, word from another core, a line.
fn interrupt(core: &mut Core, vector: u64) {
    match vector {
        VECTOR_TIMER => {
            apic::end_of_interrupt();
            if core.entered < core.expiry {
                // The timer cannot count that far at once, or was meant for an older time-out, or the core's turn is over.
                if crate::turn() != 0 && !core.current.is_null() {
                    end_turn(core);
                    start_timer(core);
                    return leave_unnoted(core);
                }
                start_timer(core);
                return go_on(core);
            }
            expired(core)
        }
        VECTOR_NOTIFY => {
            slice::looks(core);
            apic::end_of_interrupt();
            post_root(core, event::NOTIFY)
        }
        VECTOR_MAIL => {
            slice::looks(core);
            apic::end_of_interrupt();
            wire::mail(core)
        }
        VECTOR_STOP => {
            apic::end_of_interrupt();
            everywhere::attend(core);
            // SAFETY: the running thread, if any, is this core's.
            match unsafe { core.current.as_ref() } {
                Some(thread) if component::get(thread.component).is_stopped() => caller_stopped(core),
                _ => go_on(core),
            }
        }
        // The local APIC asks for no end of a spurious interrupt.
        VECTOR_SPURIOUS => go_on(core),
        _ => wire::line(core, vector - VECTOR_LINES),
    }
}

/// A time-out, or the core's tick, has come. Nearly always it is the root's.
#[inline(always)]
fn expired(core: &mut Core) {
    if core.levels == 1 && core.tick == NO_TIMEOUT {
        core.timeouts[0] = NO_TIMEOUT;
        core.expiry = NO_TIMEOUT;
        core.armed = if crate::turn() == 0 { NO_TIMEOUT } else { UNARMED };
        return post_root(core, event::TIMER);
    }
    // The timer is started before the scheduler is entered, for it may have been entered already.
    slice::calls(core.id as usize);
    some_expired(core);
    slice::looks(core)
}

/// As [`expired`], for any scheduler's.
#[inline(never)]
fn some_expired(core: &mut Core) {
    if core.levels == 1 && core.tick <= core.entered && core.entered < core.timeouts[0] {
        // Only the tick.
        let passed = wire::tick_passed(core);
        arm(core, core.timeouts[0].min(core.tick));
        start_timer(core);
        return wire::tick(core, passed);
    }
    let first = take_timeouts(core);
    let passed = (core.tick <= core.entered).then(|| wire::tick_passed(core));
    arm(core, first_timeout(core));
    if core.expiry != NO_TIMEOUT {
        start_timer(core);
    }
    if let Some(passed) = passed {
        wire::tick(core, passed);
    }
    match first {
        Some(scheduler) if is_under(core, scheduler) => enter(core, scheduler),
        _ => go_on(core),
    }
}

/// Whoever has the core goes on.
pub fn go_on(core: &mut Core) {
    // The stretches of a core that idles interest nobody.
    if !core.current.is_null() {
        leave_kernel(core);
    }
}

/// What the processor's exception means for a component, and the address concerned.
///
/// A general-protection fault says nothing about its cause: a privileged instruction and an address that is none look the
/// same without a look at the instruction, which is the component's memory and none of the kernel's business.
fn describe(vector: u64, thread: &Thread) -> (FaultKind, u64) {
    let registers = &thread.registers;
    match vector {
        0 | 4 => (FaultKind::Arithmetic, registers.rip),
        6 | 7 => (FaultKind::InvalidInstruction, registers.rip),
        13 => (FaultKind::Privileged, registers.rip),
        14 => {
            let address = paging::fault_address();
            // Below what is mapped of the thread's own stack, there is no page, and nothing else ever lies there.
            let stack = STACKS + u64::from(thread.id) * STACK_STRIDE;
            let absent = registers.error & 0x11 == 0;
            let on_guard = absent && (stack..stack + STACK_STRIDE).contains(&address);
            let kind = match registers.error {
                _ if on_guard => FaultKind::StackOverflow,
                error if error & 0x10 != 0 => FaultKind::Execute,
                error if error & 2 != 0 => FaultKind::Write,
                _ => FaultKind::Read,
            };
            (kind, address)
        }
        _ => (FaultKind::Other, registers.rip),
    }
}

/// The running thread's component did what it may not: it is stopped, and only it. The thread goes back to its caller
/// with an error, or is lost if there is none; the scheduler is told who is to blame.
pub fn stop(core: &mut Core, kind: FaultKind, address: u64) {
    // SAFETY: the running thread is this core's.
    let thread = unsafe { &mut *core.current };
    let culprit = component::get(thread.component);
    let instruction = thread.registers.rip;
    if culprit.is_root() {
        end_of_root(core, kind, address, instruction)
    }
    // Other threads may be in it on other cores.
    restart::stop(core, thread.component);
    let component = u64::from(thread.component);
    leave_stopped(core, Fault { component, kind: kind as u64, address, instruction, ..Fault::default() })
}

#[cold]
#[inline(never)]
fn end_of_root(core: &Core, kind: FaultKind, address: u64, instruction: u64) -> ! {
    say!(
        "tactus: the root scheduler \"{}\" faulted: {kind:?} at {address:#x}, instruction {instruction:#x}, core {}",
        name_text(&component::get(core.root as u16).name),
        core.id
    );
    crate::end(crate::END_SCHEDULER_FAULT)
}

/// The running thread is in a component that was stopped meanwhile, by a fault of another thread, or has come back to one
/// that has begun anew since it left.
#[cold]
#[inline(never)]
pub fn caller_stopped(core: &mut Core) {
    // SAFETY: the running thread is this core's.
    let thread = unsafe { &*core.current };
    let at = thread.registers.rip;
    // Whose life is over: see `GRAVE`.
    let (component, kind, at) = match thread.component {
        restart::GRAVE => (at, FaultKind::Gone, 0),
        number => (number.into(), FaultKind::Other, at),
    };
    leave_stopped(core, Fault { component, kind: kind as u64, address: at, instruction: at, ..Fault::default() })
}

/// Takes the running thread out of the stopped component that it is in and tells the scheduler.
#[inline(always)]
fn leave_stopped(core: &mut Core, told: Fault) {
    // SAFETY: the running thread is this core's.
    let thread = unsafe { &mut *core.current };
    let survives = unwind(thread);
    let told = Fault { thread: thread.id.into(), survives: survives.into(), ..told };
    // The root is entered below.
    Shared::of_root(core).note_fault(told);
    if !thread.path().is_roots() {
        tell_children(core, thread, told);
    }
    if survives {
        core.enter_space(component::get(thread.component).space);
    } else {
        charge(core, thread);
        core.current = core::ptr::null_mut();
        thread.release();
    }
    post_root(core, event::FAULT)
}

/// Tells all schedulers of the thread's but the root.
#[inline(never)]
fn tell_children(core: &Core, thread: &Thread, told: Fault) {
    for (scheduler, _) in thread.path().holders().skip(1) {
        if !component::get(scheduler.component()).is_stopped() {
            let region = Shared::of(core, scheduler.component());
            region.note_fault(told);
            region.post(event::FAULT);
        }
    }
}
