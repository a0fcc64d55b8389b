//! Interrupts and faults: the machine's events on their way to the scheduler.

use crate::arch::cpu::time_stamp;
use crate::arch::serial::say;
use crate::arch::{faults, idle, interrupts, slices};
use crate::component;
use crate::dispatch::{arm, enter, first_timeout, go_on, is_under, leave_unnoted, post_root, take_timeouts};
use crate::eviction::{caller_stopped, stop};
use crate::percore::{self, Core, UNARMED};
use crate::thread;
use crate::timer::{end_turn, start_timer};
use crate::{delivery, monitor, shootdown};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::shared::{cause, event};

/// An interrupt or fault at user level; the thread's registers are saved. Whoever is the core's current thread afterwards
/// goes on.
#[no_mangle]
extern "C" fn kernel_trap() {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block.
    let core = unsafe { percore::current() };
    core.entered = time_stamp();
    // SAFETY: a thread was running.
    let thread = unsafe { &mut *core.current };
    core.cause = cause::INTERRUPT + thread.registers.cause();
    #[cfg(feature = "lazy-floating-point")]
    if opens_floating_point(core, thread) {
        return crate::dispatch::leave_kernel(core);
    }
    thread::interrupted(thread);
    match thread.registers.cause() {
        number if interrupts::is_interrupt(number) => interrupt(core, number),
        _ => {
            let (kind, address) = faults::describe(&thread.registers, thread.stack());
            stop(core, kind, address)
        }
    }
}

/// Whether the thread stopped where it needs the floating-point unit, and may have it: then it opens.
#[cfg(feature = "lazy-floating-point")]
fn opens_floating_point(core: &mut percore::Core, thread: &thread::Thread) -> bool {
    use crate::arch::floating_point::late;
    let its = thread.registers.cause() == late::SHUT && crate::component::get(thread.component).has_floating_point();
    if !its || core.floating_point {
        return false;
    }
    core.floating_point = true;
    late::open_for(thread.id);
    true
}

/// An interrupt of the idle core, or a fault in the kernel itself.
#[no_mangle]
extern "C" fn kernel_trap_inside(number: u64, error: u64, instruction: u64, address: u64) {
    // SAFETY: as above; the kernel's own code does not run with interrupts on except in the idle loop.
    let core = unsafe { percore::current() };
    core.entered = time_stamp();
    core.cause = cause::INTERRUPT + number;
    idle::wake();
    match number {
        number if interrupts::is_interrupt(number) => interrupt(core, number),
        _ => fault_inside(core.id, (number, error), (instruction, address)),
    }
}

/// The kernel itself has a fault: that is the end.
#[cold]
#[inline(never)]
fn fault_inside(core: u64, (number, error): (u64, u64), (instruction, address): (u64, u64)) {
    let meaning = faults::meaning(number, percore::is_guard(address));
    say!("tactus: kernel fault {number} (error {error:#x}) at {instruction:#x}, address {address:#x}, core {core}{meaning}");
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
fn interrupt(core: &mut Core, number: u64) {
    match number {
        interrupts::TIMER => {
            interrupts::end();
            if core.entered < core.expiry {
                // The timer cannot count that far at once, or was meant for an older time-out, or the core's turn is over.
                if slices::are_there() && !core.current.is_null() {
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
        interrupts::NOTIFY => {
            slices::looks(core.id as usize);
            interrupts::end();
            post_root(core, event::NOTIFY)
        }
        interrupts::MAIL => {
            slices::looks(core.id as usize);
            interrupts::end();
            delivery::mail(core)
        }
        interrupts::STOP => {
            interrupts::end();
            shootdown::attend(core);
            // SAFETY: the running thread, if any, is this core's.
            match unsafe { core.current.as_ref() } {
                Some(thread) if component::get(thread.component).is_stopped() => caller_stopped(core),
                _ if monitor::run_ends() => post_root(core, event::RUN_ENDS),
                _ if monitor::waits_on(core) => {
                    slices::looks(core.id as usize);
                    post_root(core, event::VIOLATION)
                }
                _ => go_on(core),
            }
        }
        // Nobody asks for the end of a spurious interrupt.
        interrupts::SPURIOUS => go_on(core),
        _ => delivery::line(core, number - interrupts::LINES),
    }
}

/// A time-out, or the core's tick, has come. Nearly always it is the root's.
#[inline(always)]
fn expired(core: &mut Core) {
    if core.levels == 1 && core.tick == NO_TIMEOUT {
        core.timeouts[0] = NO_TIMEOUT;
        core.expiry = NO_TIMEOUT;
        core.armed = if slices::are_there() { UNARMED } else { NO_TIMEOUT };
        return post_root(core, event::TIMER);
    }
    // The timer is started before the scheduler is entered, for it may have been entered already.
    slices::calls(core.id as usize);
    some_expired(core);
    slices::looks(core.id as usize)
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
