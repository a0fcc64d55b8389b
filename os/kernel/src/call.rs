//! The calls. Each checks in the order in which its failures are listed, and does a bounded amount of work.

use crate::arch::percore::{self, Core};
use crate::arch::port::time_stamp;
use crate::arch::{apic, serial};
use crate::component;
use crate::dispatch::{begin_upcall, charge, leave_kernel, post, run, run_with_timer, sleep};
use crate::fault;
use crate::thread::{self, Role, Thread};
use tactus_abi::call::{Call, Error, IDLE, SWITCH_UPCALL_DONE};
use tactus_record::FaultKind;

/// The core, and the thread that called: where it goes on is saved.
fn entered() -> (&'static mut Core, &'static mut Thread) {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block or the running thread.
    unsafe {
        let core = percore::current();
        core.entered = time_stamp();
        let thread = &mut *core.current;
        (core, thread)
    }
}

/// A thread called, and it is none of the calls that the entry code does alone: its number is saved in `rax`. Whoever
/// is the core's current thread afterwards goes on.
#[no_mangle]
extern "C" fn kernel_call(a0: u64, a1: u64, a2: u64, a3: u64, a4: u64) {
    let (core, thread) = entered();
    if component::get(thread.component).is_stopped() {
        return fault::caller_stopped(core);
    }
    let result = match Call::ALL.get(thread.registers.rax as usize) {
        Some(Call::Invoke) => Err(refused_invocation(thread, a0)),
        Some(Call::Return) => match give_back(core, thread, [a0, a1]) {
            Ok(()) if component::get(thread.component).is_stopped() => return fault::caller_stopped(core),
            Ok(()) if events_wait(core, thread) => return post(core, 0),
            Ok(()) => return leave_kernel(core),
            Err(error) => Err(error),
        },
        Some(Call::Notify) => notify(thread, a0),
        Some(Call::Text) => text(thread, a0, [a1, a2, a3, a4]),
        Some(Call::Finish) => finish(thread, a0),
        Some(Call::Panic) => {
            let at = thread.registers.rip;
            return fault::stop(core, FaultKind::Panic, at);
        }
        _ => Err(Error::BadCall),
    };
    answer(core, thread, result)
}

/// `(thread, flags, time-out)`: a thread asked for a dispatch.
///
/// Whatever is rare is a function of its own that this one ends in, so that this one needs no stack.
#[no_mangle]
extern "C" fn kernel_switch(wanted: u64, flags: u64, timeout: u64) {
    let (core, caller) = entered();
    let Some(depth) = component::get(caller.component).scheduler_depth else {
        return answer(core, caller, Err(Error::NotScheduler));
    };
    let done = flags == SWITCH_UPCALL_DONE;
    if flags & !SWITCH_UPCALL_DONE != 0 || done && caller.role != Role::Upcall {
        return answer(core, caller, Err(Error::BadArgument));
    }
    // SAFETY: the region is the kernel's and this core's; the scheduler cannot run while the kernel does.
    let region = unsafe { &mut *core.region };
    if region.event_pending != 0 || region.next_thread != wanted {
        return answer(core, caller, Err(Error::Again));
    }
    if wanted == IDLE {
        return switch_to_nobody(core, caller, done, timeout);
    }
    let Some(target) = thread::get(wanted) else {
        return answer(core, caller, Err(Error::BadThread));
    };
    if core::ptr::eq(target, caller) {
        caller.registers.rax = Error::None as u64;
        return run_with_timer(core, timeout);
    }
    // SAFETY: the fields read here are written during set-up only.
    let (scheduler, role) = unsafe { ((*target).scheduler(depth), (*target).role) };
    if scheduler != Some(caller.component) {
        return answer(core, caller, Err(Error::NoRight));
    }
    if role == Role::Upcall {
        return answer(core, caller, Err(Error::NotActive));
    }
    // SAFETY: `take` succeeds only if no other core has the thread; from then on it is this core's.
    let target = unsafe {
        if !(*target).take(core.id) {
            return wait_empty_handed(core, caller);
        }
        &mut *target
    };
    if target.stopped || component::get(target.component).is_stopped() {
        return switch_out_of_stopped(core, caller, target, done, timeout);
    }
    region.dispatches += 1;
    leave(core, caller, done, target);
    run(core, target, timeout)
}

/// The thread wanted is still on another core. That core may be waiting for a thread of this one, so none is kept
/// here: what the upcall interrupted is given up, and a task's thread makes room for the upcall, which tries again.
#[inline(never)]
fn wait_empty_handed(core: &mut Core, caller: &mut Thread) {
    if caller.role == Role::Upcall {
        release_interrupted(core, core::ptr::null_mut());
        return answer(core, caller, Err(Error::Busy));
    }
    caller.registers.rax = Error::None as u64;
    charge(core, caller);
    caller.release();
    begin_upcall(core)
}

/// The rest of a dispatch where the target is inside a component that was stopped.
#[cold]
fn switch_out_of_stopped(core: &mut Core, caller: &mut Thread, target: &mut Thread, done: bool, timeout: u64) {
    if target.stopped || !unwind(target) {
        target.release();
        return answer(core, caller, Err(Error::ThreadStopped));
    }
    leave(core, caller, done, target);
    run(core, target, timeout)
}

/// The rest of a dispatch that leaves the core idle.
#[inline(never)]
fn switch_to_nobody(core: &mut Core, caller: &mut Thread, done: bool, timeout: u64) {
    leave(core, caller, done, core::ptr::null_mut());
    sleep(core, timeout)
}

/// The caller goes on with the result of its call.
#[inline(never)]
fn answer(core: &mut Core, thread: &mut Thread, result: Result<(), Error>) {
    thread.registers.rax = match result {
        Ok(()) => Error::None as u64,
        Err(error) => {
            if !matches!(error, Error::Again | Error::Busy) {
                core.count_refusal();
            }
            error as u64
        }
    };
    leave_kernel(core);
}

/// `(grant, a0, a1, a2, a3, a4)`: why the entry code did not do it, which makes the same checks.
fn refused_invocation(thread: &Thread, grant: u64) -> Error {
    match component::get(thread.component).grants.get(grant as usize) {
        Some(grant) if grant.entry != 0 => {
            if component::get(grant.component).is_stopped() {
                Error::ComponentStopped
            } else {
                Error::TooDeep
            }
        }
        _ => Error::NotGranted,
    }
}

/// Whether events were posted that the thread, which has just left the scheduler, did not take. They came when it was
/// on its way out, past its own last look.
fn events_wait(core: &Core, thread: &Thread) -> bool {
    // SAFETY: the region is the kernel's and this core's; the scheduler cannot run while the kernel does.
    let pending = unsafe { (*core.region).event_pending } != 0;
    pending && component::get(thread.component).scheduler_depth.is_none()
}

/// `(v0, v1)`: comes here only if something stands in the way.
fn give_back(core: &mut Core, thread: &mut Thread, values: [u64; 2]) -> Result<(), Error> {
    if !thread.pop(Error::None as u64, values) {
        return Err(Error::NothingToReturn);
    }
    core.enter_space(component::get(thread.component).space);
    Ok(())
}

/// Takes the thread out of stopped components, with an error to the caller below them; whether one is left.
#[cold]
pub fn unwind(thread: &mut Thread) -> bool {
    while component::get(thread.component).is_stopped() {
        if !thread.pop(Error::Faulted as u64, [0; 2]) {
            thread.stopped = true;
            return false;
        }
    }
    true
}

/// The caller gives the core to `next` (null: nobody), and is charged. Nothing of it is touched once it is given up:
/// from then on another core may have it.
#[inline(always)]
fn leave(core: &mut Core, caller: &mut Thread, done: bool, next: *mut Thread) {
    caller.registers.rax = Error::None as u64;
    charge(core, caller);
    if done {
        caller.active = false;
    } else if caller.role == Role::Task {
        caller.release();
    }
    release_interrupted(core, next);
}

/// Gives up the thread that the upcall interrupted, unless it is `next`.
#[inline(always)]
fn release_interrupted(core: &mut Core, next: *mut Thread) {
    if !core.interrupted.is_null() && !core::ptr::eq(core.interrupted, next) {
        // SAFETY: the interrupted thread is this core's until it is released here.
        unsafe { (*core.interrupted).release() };
    }
    core.interrupted = core::ptr::null_mut();
}

/// `(core)`.
fn notify(thread: &Thread, target: u64) -> Result<(), Error> {
    component::get(thread.component).scheduler_depth.ok_or(Error::NotScheduler)?;
    if target >= crate::cores() as u64 {
        return Err(Error::BadCore);
    }
    // SAFETY: APIC numbers are written during set-up only.
    apic::notify(unsafe { (*percore::of(target as usize)).apic });
    if crate::turn() != 0 {
        // Where cores take turns, the receiver can only look when this one lets it.
        core::hint::spin_loop();
    }
    Ok(())
}

/// `(length, w0, w1, w2, w3)`.
fn text(thread: &Thread, length: u64, words: [u64; 4]) -> Result<(), Error> {
    component::get(thread.component).scheduler_depth.ok_or(Error::NotScheduler)?;
    if length > 32 {
        return Err(Error::BadArgument);
    }
    let mut bytes = [0; 32];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    serial::write(&bytes[..length as usize]);
    Ok(())
}

/// `(code)`.
fn finish(thread: &Thread, code: u64) -> Result<(), Error> {
    match component::get(thread.component).scheduler_depth {
        Some(0) => crate::end(code as u8),
        Some(_) => Err(Error::NoRight),
        None => Err(Error::NotScheduler),
    }
}
