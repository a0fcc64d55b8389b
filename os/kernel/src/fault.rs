//! Interrupts and faults: the machine's events on their way to the scheduler.

use crate::arch::descriptors::{DOUBLE_FAULT, MACHINE_CHECK, NON_MASKABLE};
use crate::arch::port::time_stamp;
use crate::arch::registers::{
    EXCEPTIONS, VECTOR_LINES, VECTOR_MAIL, VECTOR_NOTIFY, VECTOR_SPURIOUS, VECTOR_STOP, VECTOR_TIMER,
};
use crate::arch::serial::say;
use crate::arch::{apic, idle, paging};
use crate::component;
use crate::dispatch::{arm, enter, first_timeout, go_on, is_under, leave_unnoted, post_root, take_timeouts};
use crate::eviction::{caller_stopped, stop};
use crate::percore::{self, Core, UNARMED};
use crate::slice::{self, end_turn, start_timer};
use crate::thread::{self, Thread};
use crate::{delivery, monitor, shootdown};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::layout::{STACKS, STACK_STRIDE};
use tactus_abi::shared::{cause, event};
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
    #[cfg(feature = "lazy-floating-point")]
    if opens_floating_point(core, thread) {
        return crate::dispatch::leave_kernel(core);
    }
    thread::interrupted(thread);
    match thread.registers.vector {
        vector if is_interrupt(vector) => interrupt(core, vector),
        vector => {
            let (kind, address) = describe(vector, thread);
            stop(core, kind, address)
        }
    }
}

/// Whether the thread stopped where it needs the floating-point unit, and may have it: then it opens.
#[cfg(feature = "lazy-floating-point")]
fn opens_floating_point(core: &mut percore::Core, thread: &thread::Thread) -> bool {
    use crate::arch::floating_point::late;
    let its = thread.registers.vector == late::SHUT && crate::component::get(thread.component).has_floating_point();
    if !its || core.floating_point {
        return false;
    }
    core.floating_point = true;
    late::open_for(thread.id);
    true
}

/// The processor's exceptions come before all interrupts, and of these no others arrive than have an entry.
fn is_interrupt(vector: u64) -> bool {
    vector >= EXCEPTIONS
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
        _ => fault_inside(core.id, (vector, error), (rip, address)),
    }
}

/// The kernel itself has a fault: that is the end.
#[cold]
#[inline(never)]
fn fault_inside(core: u64, (vector, error): (u64, u64), (rip, address): (u64, u64)) {
    let meaning = match vector as usize {
        NON_MASKABLE => ": an interrupt that cannot be masked, by which a machine reports an error",
        MACHINE_CHECK => ": the processor reports an error of the machine",
        DOUBLE_FAULT if percore::is_guard(address) => ": the kernel's stack is too small",
        _ => "",
    };
    say!("tactus: kernel fault {vector} (error {error:#x}) at {rip:#x}, address {address:#x}, core {core}{meaning}");
    crate::machine::end(crate::machine::END_KERNEL_FAULT)
}

/// The core has nothing to run.
#[no_mangle]
extern "C" fn kernel_idle() -> ! {
    // SAFETY: as above.
    let core = unsafe { percore::current() };
    idle::wait(core.id, core.expiry)
}

/// What an interrupt comes to: a time-out, word from another core, a line.
fn interrupt(core: &mut Core, vector: u64) {
    match vector {
        VECTOR_TIMER => {
            apic::end_of_interrupt();
            if core.entered < core.expiry {
                // The timer cannot count that far at once, or was meant for an older time-out, or the core's turn is over.
                if crate::machine::turn() != 0 && !core.current.is_null() {
                    end_turn(core);
                    if time_stamp() < core.expiry {
                        start_timer(core);
                        return leave_unnoted(core);
                    }
                    // It came while the others had their slices, and does not wait for the next ones as well.
                    core.entered = time_stamp();
                } else {
                    start_timer(core);
                    return go_on(core);
                }
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
            delivery::mail(core)
        }
        VECTOR_STOP => {
            apic::end_of_interrupt();
            shootdown::attend(core);
            // SAFETY: the running thread, if any, is this core's.
            match unsafe { core.current.as_ref() } {
                Some(thread) if component::get(thread.component).is_stopped() => caller_stopped(core),
                _ if monitor::run_ends() => post_root(core, event::RUN_ENDS),
                _ if monitor::waits_on(core) => {
                    slice::looks(core);
                    post_root(core, event::VIOLATION)
                }
                _ => go_on(core),
            }
        }
        // The local APIC asks for no end of a spurious interrupt.
        VECTOR_SPURIOUS => go_on(core),
        _ => delivery::line(core, vector - VECTOR_LINES),
    }
}

/// A time-out, or the core's tick, has come. Nearly always it is the root's.
#[inline(always)]
fn expired(core: &mut Core) {
    if core.levels == 1 && core.tick == NO_TIMEOUT {
        core.timeouts[0] = NO_TIMEOUT;
        core.expiry = NO_TIMEOUT;
        core.armed = if crate::machine::turn() == 0 { NO_TIMEOUT } else { UNARMED };
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
        let passed = delivery::tick_passed(core);
        arm(core, core.timeouts[0].min(core.tick));
        start_timer(core);
        return delivery::tick(core, passed);
    }
    let first = take_timeouts(core);
    let passed = (core.tick <= core.entered).then(|| delivery::tick_passed(core));
    arm(core, first_timeout(core));
    if core.expiry != NO_TIMEOUT {
        start_timer(core);
    }
    if let Some(passed) = passed {
        delivery::tick(core, passed);
    }
    match first {
        Some(scheduler) if is_under(core, scheduler) => enter(core, scheduler),
        _ => go_on(core),
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
        16 | 19 => (FaultKind::Arithmetic, registers.rip),
        _ => (FaultKind::Other, registers.rip),
    }
}
