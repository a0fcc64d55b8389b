//! The calls. Each checks in the order in which its failures are listed, and does a bounded amount of work.

use crate::arch::entry::{Registers, USER_FLAGS};
use crate::arch::percore::{self, Core};
use crate::arch::{apic, serial};
use crate::component;
use crate::dispatch::{arm, begin_upcall, post, resume_thread, run, start_timer};
use crate::fault;
use crate::thread::{self, Role, Thread};
use tactus_abi::call::{Call, Error, IDLE, SWITCH_UPCALL_DONE};
use tactus_record::FaultKind;

const CALLS: [Call; 8] =
    [Call::Null, Call::Invoke, Call::Return, Call::SwitchThread, Call::Notify, Call::Text, Call::Finish, Call::Panic];

/// A thread called: its registers are saved. Returns the registers to go on with.
#[no_mangle]
extern "C" fn kernel_call() -> *const Registers {
    // SAFETY: this is the kernel's entry on this core; nobody else holds the block or the running thread.
    let (core, thread) = unsafe {
        let core = percore::current();
        let thread = &mut *core.current;
        (core, thread)
    };
    core.entered = crate::arch::port::time_stamp();
    if component::get(thread.component).is_stopped() {
        return fault::caller_stopped(core);
    }
    let result = match CALLS.get(thread.registers.rax as usize) {
        Some(Call::Null) => Ok(()),
        Some(Call::Invoke) => invoke(core, thread),
        Some(Call::Return) => match give_back(core, thread) {
            Ok(()) if component::get(thread.component).is_stopped() => return fault::caller_stopped(core),
            Ok(()) if events_wait(core, thread) => {
                thread.registers.rax = Error::None as u64;
                return post(core, 0);
            }
            result => result,
        },
        Some(Call::SwitchThread) => match switch_thread(core, thread) {
            Ok(next) => return next,
            Err(error) => Err(error),
        },
        Some(Call::Notify) => notify(thread),
        Some(Call::Text) => text(thread),
        Some(Call::Finish) => finish(thread),
        Some(Call::Panic) => {
            let at = thread.registers.rip;
            return fault::stop(core, FaultKind::Panic, at);
        }
        None => Err(Error::BadCall),
    };
    thread.registers.rax = match result {
        Ok(()) => Error::None as u64,
        Err(error) => {
            if !matches!(error, Error::Again | Error::Busy) {
                core.count_refusal();
            }
            error as u64
        }
    };
    resume_thread(core, thread)
}

/// `(grant, a0, a1, a2, a3, a4)`.
fn invoke(core: &mut Core, thread: &mut Thread) -> Result<(), Error> {
    let grants = &component::get(thread.component).grants;
    let grant = grants.get(thread.registers.rdi as usize).copied().flatten().ok_or(Error::NotGranted)?;
    let target = component::get(grant.component);
    if target.is_stopped() {
        return Err(Error::ComponentStopped);
    }
    if !thread.push() {
        return Err(Error::TooDeep);
    }
    let caller = thread.component;
    thread.component = grant.component;
    let from = thread.registers;
    // Only what is named goes across; everything else would tell the callee about its caller.
    thread.registers = Registers {
        rdi: u64::from(caller) | u64::from(thread.id) << 16 | core.id << 32,
        rsi: from.rsi,
        rdx: from.rdx,
        rcx: from.r10,
        r8: from.r8,
        r9: from.r9,
        rip: grant.entry,
        rsp: thread.fresh_stack(),
        cs: from.cs,
        ss: from.ss,
        rflags: USER_FLAGS,
        ..Registers::default()
    };
    core.enter_space(target.space);
    // `rax` is set by the caller of this function; the callee does not look at it.
    Ok(())
}

/// Whether events were posted that the thread, which has just left the scheduler, did not take. They came when it was
/// on its way out, past its own last look.
fn events_wait(core: &Core, thread: &Thread) -> bool {
    // SAFETY: the region is the kernel's and this core's; the scheduler cannot run while the kernel does.
    let pending = unsafe { (*core.region).event_pending } != 0;
    pending && component::get(thread.component).scheduler_depth.is_none()
}

/// `(v0, v1)`.
fn give_back(core: &mut Core, thread: &mut Thread) -> Result<(), Error> {
    let (v0, v1) = (thread.registers.rdi, thread.registers.rsi);
    if !thread.pop() {
        return Err(Error::NothingToReturn);
    }
    let from = thread.registers;
    thread.registers = Registers {
        rdi: v0,
        rsi: v1,
        rip: from.rip,
        rsp: from.rsp,
        cs: from.cs,
        ss: from.ss,
        rflags: USER_FLAGS,
        ..Registers::default()
    };
    core.enter_space(component::get(thread.component).space);
    Ok(())
}

/// Takes the thread out of stopped components, with an error to the caller below them; whether one is left.
pub fn unwind(thread: &mut Thread) -> bool {
    while component::get(thread.component).is_stopped() {
        if !thread.pop() {
            thread.stopped = true;
            return false;
        }
        // Nothing of the stopped component goes across, its flags least of all.
        let Registers { rip, rsp, cs, ss, .. } = thread.registers;
        let rax = Error::Faulted as u64;
        thread.registers = Registers { rax, rip, rsp, cs, ss, rflags: USER_FLAGS, ..Registers::default() };
    }
    true
}

/// `(thread, flags, time-out)`.
fn switch_thread(core: &mut Core, caller: &mut Thread) -> Result<*const Registers, Error> {
    let (wanted, flags, timeout) = (caller.registers.rdi, caller.registers.rsi, caller.registers.rdx);
    let depth = component::get(caller.component).scheduler_depth.ok_or(Error::NotScheduler)?;
    if flags & !SWITCH_UPCALL_DONE != 0 {
        return Err(Error::BadArgument);
    }
    let done = flags == SWITCH_UPCALL_DONE;
    if done && caller.role != Role::Upcall {
        return Err(Error::BadArgument);
    }
    // SAFETY: the region is the kernel's and this core's; the scheduler cannot run while the kernel does.
    let region = unsafe { &mut *core.region };
    if region.event_pending != 0 || region.next_thread != wanted {
        return Err(Error::Again);
    }
    if wanted == IDLE {
        arm(core, timeout);
        return Ok(leave(core, caller, done, core::ptr::null_mut()));
    }
    let target = thread::get(wanted).ok_or(Error::BadThread)?;
    if core::ptr::eq(target, caller) {
        arm(core, timeout);
        if crate::turn() != 0 {
            start_timer(core);
        }
        caller.registers.rax = Error::None as u64;
        return Ok(resume_thread(core, caller));
    }
    // SAFETY: the fields read here are written during set-up only.
    let (path, role) = unsafe { ((*target).path, (*target).role) };
    if path[depth as usize] != Some(caller.component) {
        return Err(Error::NoRight);
    }
    if role == Role::Upcall {
        return Err(Error::NotActive);
    }
    // SAFETY: `take` succeeds only if no other core has the thread; from then on it is this core's.
    let target_thread = unsafe {
        if !(*target).take(core.id) {
            return wait_empty_handed(core, caller);
        }
        &mut *target
    };
    if target_thread.stopped || !unwind(target_thread) {
        target_thread.release();
        return Err(Error::ThreadStopped);
    }
    arm(core, timeout);
    region.dispatches += 1;
    Ok(leave(core, caller, done, target))
}

/// The thread wanted is still on another core. That core may be waiting for a thread of this one, so none is kept
/// here: what the upcall interrupted is given up, and a task's thread makes room for the upcall, which tries again.
fn wait_empty_handed(core: &mut Core, caller: &mut Thread) -> Result<*const Registers, Error> {
    if caller.role == Role::Upcall {
        release_interrupted(core, core::ptr::null_mut());
        return Err(Error::Busy);
    }
    caller.registers.rax = Error::None as u64;
    let registers = begin_upcall(core);
    caller.release();
    Ok(registers)
}

/// The caller gives the core to `next` (null: nobody). Threads are given up last: from then on another core may have
/// them.
fn leave(core: &mut Core, caller: &mut Thread, done: bool, next: *mut Thread) -> *const Registers {
    caller.registers.rax = Error::None as u64;
    let registers = run(core, next);
    if done {
        caller.active = false;
    } else if caller.role == Role::Task {
        caller.release();
    }
    release_interrupted(core, next);
    registers
}

/// Gives up the thread that the upcall interrupted, unless it is `next`.
fn release_interrupted(core: &mut Core, next: *mut Thread) {
    if !core.interrupted.is_null() && !core::ptr::eq(core.interrupted, next) {
        // SAFETY: the interrupted thread is this core's until it is released here.
        unsafe { (*core.interrupted).release() };
    }
    core.interrupted = core::ptr::null_mut();
}

/// `(core)`.
fn notify(thread: &Thread) -> Result<(), Error> {
    component::get(thread.component).scheduler_depth.ok_or(Error::NotScheduler)?;
    let target = thread.registers.rdi;
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
fn text(thread: &Thread) -> Result<(), Error> {
    component::get(thread.component).scheduler_depth.ok_or(Error::NotScheduler)?;
    let r = &thread.registers;
    if r.rdi > 32 {
        return Err(Error::BadArgument);
    }
    let mut bytes = [0; 32];
    for (i, word) in [r.rsi, r.rdx, r.r10, r.r8].into_iter().enumerate() {
        bytes[i * 8..i * 8 + 8].copy_from_slice(&word.to_le_bytes());
    }
    serial::write(&bytes[..r.rdi as usize]);
    Ok(())
}

/// `(code)`.
fn finish(thread: &Thread) -> Result<(), Error> {
    match component::get(thread.component).scheduler_depth {
        Some(0) => crate::end(thread.registers.rdi as u8),
        Some(_) => Err(Error::NoRight),
        None => Err(Error::NotScheduler),
    }
}
