//! The dispatch: the one call by which a scheduler gives the core away.
//!
//! What is common is done at once; whatever is not goes through all checks in their order ([`switch`]), which finds
//! everything as it was.

use crate::arch::slices;
use crate::component;
use crate::dispatch::{begin_upcall, charge, enter, first_timeout, run, run_with_timer, set_timeout, sleep, upcall_of};
use crate::eviction::{self, unwind};
use crate::mailbox;
use crate::path::{self, Scheduler};
use crate::percore::{Core, UNARMED};
use crate::region::{post_idle, Shared};
use crate::reply::{answer, answer_to, entered};
use crate::stop;
use crate::thread::{self, state, Thread};
use crate::upcall;
use core::sync::atomic::Ordering::Relaxed;
use tactus_abi::call::{
    Call, Error, IDLE, SWITCH_RETURN, SWITCH_SUSPEND, SWITCH_SYNC_BLOCK, SWITCH_SYNC_UNBLOCK, SWITCH_UPCALL_DONE,
};
use tactus_abi::shared::event;

const SYNC: u64 = SWITCH_SYNC_BLOCK | SWITCH_SYNC_UNBLOCK;

/// `(thread, flags, time-out)`: a thread asked for a dispatch.
#[no_mangle]
extern "C" fn kernel_switch(wanted: u64, flags: u64, timeout: u64) {
    let (core, caller) = entered(Call::SwitchThread);
    // An ordinary thread of the scheduler's, which nothing stands in the way of.
    let Some(scheduler) = path::scheduler(caller.component) else {
        return answer(core, Err(Error::NotScheduler));
    };
    let region = Shared::of(core, caller.component);
    // A parent may have given the core to one of its threads without its upcall.
    if scheduler.depth != 0 && mailbox::reached(core, caller.component) {
        region.post(event::NOTIFY);
    }
    let plain = match flags {
        0 => true,
        SWITCH_UPCALL_DONE => caller.is_upcall_of(caller.component),
        SWITCH_RETURN => !caller.is_at_base(),
        _ => false,
    };
    if !plain || region.refuses(wanted) || !may_dispatch(caller, scheduler) {
        return switch(core, caller, scheduler, wanted, flags, timeout);
    }
    let Some(target) = thread::get(wanted) else {
        return switch(core, caller, scheduler, wanted, flags, timeout);
    };
    // SAFETY: paths and states are atomics, and `take` succeeds only if no other core has the thread; from then on it is
    // this core's.
    let target = unsafe {
        let free = (*target).path().holds(scheduler) && (*target).lacks(u32::MAX) && !core::ptr::eq(target, caller);
        if !free || !(*target).take(core.id) {
            return switch(core, caller, scheduler, wanted, flags, timeout);
        }
        &mut *target
    };
    if !target.lacks(u32::MAX) || component::get(target.component).is_stopped() {
        target.release();
        return switch(core, caller, scheduler, wanted, flags, timeout);
    }
    region.count_dispatch();
    leave(core, caller, scheduler, flags);
    target.preempter = 0;
    let first = set_timeout(core, scheduler, timeout);
    run(core, target, first)
}

/// Whether the thread is one of the scheduler's that it is in: under it, or its upcall. All are the root's.
#[inline(always)]
fn may_dispatch(caller: &Thread, scheduler: Scheduler) -> bool {
    let asked = component::get(caller.component).shares.load(Relaxed);
    asked && (scheduler.depth == 0 || is_at(caller, scheduler))
}

fn is_at(caller: &Thread, scheduler: Scheduler) -> bool {
    caller.path().holds(scheduler) || caller.is_upcall_of(scheduler.component())
}

/// All checks, in their order, and whatever is not common.
#[inline(never)]
fn switch(core: &mut Core, caller: &mut Thread, scheduler: Scheduler, wanted: u64, flags: u64, timeout: u64) {
    match check(core, caller, scheduler, wanted, flags) {
        Ok(Plan::GoOn) => {
            end_call(caller, flags);
            let first = set_timeout(core, scheduler, timeout);
            let component = component::get(caller.component);
            if component.is_stopped() {
                return eviction::caller_stopped(core);
            }
            core.enter_space(component.space);
            run_with_timer(core, first)
        }
        Ok(Plan::Nothing) => answer_to(core, caller, Ok(())),
        Ok(Plan::Idle) => nobody(core, caller, scheduler, flags, timeout),
        Ok(Plan::Run(target, child)) => {
            let region = Shared::of(core, scheduler.component());
            if flags & SWITCH_SYNC_BLOCK != 0 {
                region.set_waiter(u64::from(caller.id) + 1);
            } else if flags & SWITCH_SYNC_UNBLOCK == 0 {
                region.count_dispatch();
            }
            leave(core, caller, scheduler, flags);
            give(core, target, child, scheduler, flags, timeout)
        }
        Err(Error::Busy) if flags & SYNC == 0 && !caller.is_scheduler_upcall() => {
            wait_empty_handed(core, caller, scheduler, flags)
        }
        Err(error) => answer_to(core, caller, Err(error)),
    }
}

/// What a dispatch comes to.
enum Plan {
    /// The caller goes on, with a new time-out.
    GoOn,
    /// Nothing needs to be done.
    Nothing,
    /// Nobody is to run.
    Idle,
    /// This thread, which was taken for this core; and the child whose upcall it is.
    Run(&'static mut Thread, Option<Scheduler>),
}

/// The order is that of `docs/kernel-calls.md`.
fn check(core: &Core, caller: &Thread, scheduler: Scheduler, wanted: u64, flags: u64) -> Result<Plan, Error> {
    let number = scheduler.component();
    if !component::get(number).shares.load(Relaxed) {
        return Err(Error::NoRegion);
    }
    let (sync, done, suspend) = (flags & SYNC, flags & SWITCH_UPCALL_DONE != 0, flags & SWITCH_SUSPEND != 0);
    let returns = flags & SWITCH_RETURN != 0;
    let unknown = flags & !(SYNC | SWITCH_UPCALL_DONE | SWITCH_SUSPEND | SWITCH_RETURN) != 0;
    let no_upcall = caller.lacks(state::BRAND) && !caller.is_upcall_of(number);
    let no_call = returns && caller.is_at_base();
    if unknown
        || done && no_upcall
        || no_call
        || sync == SYNC
        || sync != 0 && (done || suspend || returns)
        || done && returns
    {
        return Err(Error::BadArgument);
    }
    let region = Shared::of(core, number);
    if sync == 0 && region.refuses(wanted) {
        return Err(Error::Again);
    }
    if !is_at(caller, scheduler) {
        return Err(Error::NoRight);
    }
    if wanted == IDLE && sync == 0 {
        return Ok(Plan::Idle);
    }
    let target = thread::get(wanted).ok_or(Error::BadThread)?;
    if core::ptr::eq(target, caller) {
        return Ok(if sync == 0 { Plan::GoOn } else { Plan::Nothing });
    }
    // SAFETY: home and core are written during set-up only; path and state are atomics.
    unsafe {
        let own_upcall = (*target).is_upcall_of(number);
        if !(own_upcall || (*target).path().holds(scheduler)) {
            return Err(Error::NoRight);
        }
        if own_upcall && (sync == 0 || !(*target).lacks(state::INACTIVE)) {
            return Err(Error::NotActive);
        }
        check_resumable(core, &*target, scheduler)?;
    }
    if sync == SWITCH_SYNC_BLOCK && region.lock() & 0xFFFF_FFFF != wanted + 1 {
        return Ok(Plan::Nothing);
    }
    // SAFETY: `take` succeeds only if no other core has the thread; from then on it is this core's.
    let target = unsafe {
        if !(*target).take(core.id) {
            return Err(Error::Busy);
        }
        &mut *target
    };
    // What was looked at may have changed before it was taken.
    let mut free = check_resumable(core, target, scheduler);
    if free.is_ok() && (!target.lacks(state::STOPPED) || component::get(target.component).is_stopped()) {
        // It may have been tried after the restart of its component had looked at it, and before that was over.
        let lost = !target.lacks(state::STOPPED) && !stop::begins_anew(target);
        free = if lost || !unwind(target) { Err(Error::ThreadStopped) } else { free };
    }
    if target.is_upcall_of(number) && !target.lacks(state::INACTIVE) {
        free = Err(Error::NotActive);
    }
    match free {
        // Whoever is demoted from here on was dispatched before.
        Ok(upcall) => Ok(Plan::Run(target, upcall.filter(|it| it.component() != number))),
        Err(error) => {
            core.give_up(target);
            Err(error)
        }
    }
}

/// Whether an upcall is one that can be dispatched here and now, and the thread is not suspended by somebody who is closer
/// to the root. The scheduler whose upcall it is, as it was looked at: it may be demoted at any time.
fn check_resumable(core: &Core, target: &Thread, scheduler: Scheduler) -> Result<Option<Scheduler>, Error> {
    let mut upcall = None;
    if target.is_scheduler_upcall() {
        // A child's begins, if it is this core's.
        upcall = upcall_of(target).filter(|_| u64::from(target.core) == core.id);
        if upcall.is_none() {
            return Err(Error::NotActive);
        }
    } else if !target.lacks(state::INACTIVE) {
        return Err(Error::NotActive);
    }
    match target.suspended_by() {
        Some(depth) if depth < scheduler.depth => Err(Error::Suspended),
        _ => Ok(upcall),
    }
}

/// The caller gives the core away, and is charged. Nothing of it is touched once it is given up: from then on another
/// core may have it.
#[inline(always)]
fn leave(core: &mut Core, caller: &mut Thread, scheduler: Scheduler, flags: u64) {
    end_call(caller, flags);
    charge(core, caller);
    if scheduler.depth == 0 {
        core.deferred = false;
    }
    if flags & (SWITCH_UPCALL_DONE | SWITCH_SUSPEND) != 0 {
        return retire(core, caller, scheduler, flags);
    }
    core.give_up(caller);
}

/// The caller's call ends: here, or with it the one by which it came.
#[inline(always)]
fn end_call(caller: &mut Thread, flags: u64) {
    caller.registers.set_status(Error::None as u64);
    if flags & SWITCH_RETURN != 0 {
        caller.pop_called(Error::None as u64);
    }
}

/// The caller is finished, or suspended, and given up.
#[inline(never)]
fn retire(core: &mut Core, caller: &mut Thread, scheduler: Scheduler, flags: u64) {
    if flags & SWITCH_SUSPEND != 0 {
        caller.clear(state::SUSPENDED);
        caller.set((scheduler.depth as u32 + 1) << state::SUSPENDED_SHIFT);
    }
    if flags & SWITCH_UPCALL_DONE != 0 {
        if !caller.is_scheduler_upcall() {
            return upcall::retire(core, caller);
        }
        caller.set(state::INACTIVE);
    }
    core.give_up(caller);
}

/// Gives the core to the target, whatever kind of thread it is.
fn give(
    core: &mut Core,
    target: &mut Thread,
    child: Option<Scheduler>,
    scheduler: Scheduler,
    flags: u64,
    timeout: u64,
) {
    (target.preempter, target.interrupted) = (0, 0);
    if let Some(child) = child {
        Shared::of(core, child.component()).post_given();
        begin_upcall(core, child, target);
    }
    target.clear(state::SUSPENDED);
    // Whoever helps, helps within the time that it has.
    let first = if flags & SYNC != 0 { core.expiry } else { set_timeout(core, scheduler, timeout) };
    run(core, target, first)
}

/// The core sleeps, by the root's will. A child gives it back to its parent.
fn nobody(core: &mut Core, caller: &mut Thread, scheduler: Scheduler, flags: u64, timeout: u64) {
    if scheduler.depth == 0 {
        leave(core, caller, scheduler, flags);
        let first = set_timeout(core, scheduler, timeout);
        return sleep(core, first);
    }
    // One that was demoted meanwhile gives it back to the root.
    let parent = scheduler.parent().unwrap_or(core.root());
    let component = component::get(scheduler.component());
    let upcall = component.upcalls[core.id as usize % component.upcalls.len()].checked_sub(1);
    // SAFETY: a path is of atomics, and belongs to a table that is never moved.
    let slot =
        upcall.and_then(|it| thread::any(it.into())).and_then(|it| unsafe { (*it).path().at(parent.depth).place() });
    leave(core, caller, scheduler, flags);
    core.current = core::ptr::null_mut();
    core.levels = parent.depth + 1;
    let first = first_timeout(core);
    post_idle(core, parent, slot, timeout);
    hand_over(core, parent, first)
}

/// The core, which nobody has, goes to the scheduler.
fn hand_over(core: &mut Core, scheduler: Scheduler, first: u64) {
    let changed = first != core.expiry;
    (core.expiry, core.armed) = (first, UNARMED);
    enter(core, scheduler);
    if changed && !slices::are_there() {
        crate::timer::start_timer(core);
    }
}

/// The thread wanted is still on another core. That core may be waiting for this thread, so it is not kept here: it makes
/// room for the scheduler's upcall, which tries again.
#[inline(never)]
fn wait_empty_handed(core: &mut Core, caller: &mut Thread, scheduler: Scheduler, flags: u64) {
    end_call(caller, flags);
    charge(core, caller);
    core.give_up(caller);
    core.current = core::ptr::null_mut();
    enter(core, scheduler)
}
