//! The running thread leaves a component that is stopped, because of what it did there or of what another did; the schedulers are told.

use crate::arch::serial::say;
use crate::component;
use crate::dispatch::{charge, post_root};
use crate::machine::{end, END_SCHEDULER_FAULT};
use crate::monitor;
use crate::percore::Core;
use crate::region::Shared;
use crate::stop::{self, DEAD};
use crate::thread::{state, Thread};
use tactus_abi::call::Error;
use tactus_abi::shared::{event, name_text, Fault};
use tactus_record::FaultKind;

/// The running thread's component did what it may not: it is stopped, and only it. The thread goes back to its caller
/// with an error, or is lost if there is none; the scheduler is told who is to blame.
pub fn stop(core: &mut Core, kind: FaultKind, address: u64) {
    // SAFETY: the running thread is this core's.
    let thread = unsafe { &mut *core.current };
    let culprit = component::get(thread.component);
    let instruction = thread.registers.instruction();
    if culprit.is_root() {
        end_of_root(core, kind, address, instruction)
    }
    // Other threads may be in it on other cores.
    stop::stop(core, thread.component);
    let component = u64::from(thread.component);
    leave_stopped(core, Fault { component, kind: kind as u64, address, instruction, ..Fault::default() })
}

/// A monitor demands that the component is stopped: it is, whoever runs.
#[cold]
#[inline(never)]
pub fn stop_for(core: &mut Core, component: u16, monitor: u64) {
    stop::stop(core, component);
    let (kind, nobody) = (FaultKind::Property as u64, Thread::NOBODY);
    let told =
        Fault { component: component.into(), kind, address: monitor, thread: nobody, survives: 1, instruction: 0 };
    // SAFETY: the running thread, if any, is this core's.
    if unsafe { core.current.as_ref() }.is_some_and(|it| it.component == component) {
        return leave_stopped(core, told);
    }
    Shared::of_root(core).note_fault(told);
    post_root(core, event::FAULT)
}

#[cold]
#[inline(never)]
fn end_of_root(core: &Core, kind: FaultKind, address: u64, instruction: u64) -> ! {
    say!(
        "tactus: the root scheduler \"{}\" faulted: {kind:?} at {address:#x}, instruction {instruction:#x}, core {}",
        name_text(&component::get(core.root as u16).name),
        core.id
    );
    end(END_SCHEDULER_FAULT)
}

/// The running thread is in a component that was stopped meanwhile, by a fault of another thread, or has come back to one
/// that has begun anew since it left.
#[cold]
#[inline(never)]
pub fn caller_stopped(core: &mut Core) {
    // SAFETY: the running thread is this core's.
    let thread = unsafe { &*core.current };
    let at = thread.registers.instruction();
    // Whose life is over: see `DEAD`.
    let (component, kind, at) = match thread.component {
        DEAD => (at, FaultKind::Gone, 0),
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
    if monitor::are_there() {
        return monitor::faulted(core);
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

/// Takes the thread out of stopped components, with an error to the caller below them; whether one is left.
#[cold]
pub fn unwind(thread: &mut Thread) -> bool {
    while component::get(thread.component).is_stopped() {
        if !thread.pop_called(Error::Faulted as u64) && !stop::begins_anew(thread) {
            thread.set(state::STOPPED);
            return false;
        }
    }
    true
}
