//! The tree of schedulers: who is one, and who may dispatch which thread.
//!
//! A parent does not trust its children, and nobody can take part in two trees: a component has one parent, and the
//! schedulers of a thread are one way from the root down. Each change is one exchange of one word; whoever loses against
//! another core is told [`Error::Busy`] and has changed nothing.

use crate::brand;
use crate::component::{self, Component};
use crate::path::{self, Entry, Path, Rank, Scheduler};
use crate::percore::Core;
use crate::region::Shared;
use crate::restart;
use crate::thread::{self, state, Thread};
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use tactus_abi::call::{Error, SchedulerOperation};
use tactus_abi::image::role;
use tactus_abi::layout::MAX_SCHEDULERS;

/// Set in a slot's holder for brands; threads are their numbers plus one.
const BRAND: u16 = 1 << 15;
/// A core promotes a component.
static PROMOTING: AtomicBool = AtomicBool::new(false);

/// `(operation, thread, other)`.
pub fn control(core: &Core, caller: &Thread, operation: u64, thread: u64, other: u64) -> Result<(), Error> {
    let scheduler = path::scheduler(caller.component).ok_or(Error::NotScheduler)?;
    match operation {
        _ if operation == SchedulerOperation::Promote as u64 => promote(core.id, scheduler, other),
        _ if operation == SchedulerOperation::Demote as u64 => demote(scheduler, other),
        _ if operation == SchedulerOperation::Grant as u64 => grant(scheduler, thread, other),
        _ if operation == SchedulerOperation::Revoke as u64 => revoke(scheduler, thread, other),
        _ if operation == SchedulerOperation::Region as u64 => region(scheduler),
        _ if operation == SchedulerOperation::Slot as u64 => slot(scheduler, thread, other),
        _ if operation == SchedulerOperation::Reset as u64 => reset(core, scheduler, thread),
        _ => Err(Error::BadArgument),
    }
}

/// The thread begins anew. What it holds of another component it gives back first: there it goes on, and finds nobody to
/// return to when it is done.
fn reset(core: &Core, scheduler: Scheduler, number: u64) -> Result<(), Error> {
    let thread = thread::get(number).ok_or(Error::BadThread)?;
    // What made the caller want this may not be so any more.
    if Shared::of(core, scheduler.component()).waits() {
        return Err(Error::Again);
    }
    let core = core.id;
    // SAFETY: state and path are atomics; the rest is this core's from `take_new` to `release`.
    unsafe {
        if !(*thread).lacks(state::SCHEDULER | state::BRAND | state::SPARE) {
            return Err(Error::BadThread);
        }
        if !(*thread).path().holds(scheduler) {
            return Err(Error::NoRight);
        }
        if !(*thread).take_new(core) {
            return Err(Error::Busy);
        }
        let it = &mut *thread;
        let stopped = !it.lacks(state::STOPPED);
        if !stopped {
            // Whoever interrupted it has nobody to go back to.
            it.preempter = 0;
            restart::give_up(it);
        }
        it.release();
        if stopped {
            Err(Error::ThreadStopped)
        } else {
            Ok(())
        }
    }
}

fn existing(number: u64) -> Result<u16, Error> {
    if number < crate::machine::components().into() {
        Ok(number as u16)
    } else {
        Err(Error::BadComponent)
    }
}

/// The component as a child of the scheduler.
fn child(scheduler: Scheduler, number: u64) -> Result<Scheduler, Error> {
    let child = path::scheduler(existing(number)?).ok_or(Error::NotChild)?;
    if child.parent() == Some(scheduler) {
        Ok(child)
    } else {
        Err(Error::NotChild)
    }
}

fn promote(core: u64, scheduler: Scheduler, other: u64) -> Result<(), Error> {
    let number = existing(other)?;
    let target = component::get(number);
    if path::scheduler(number).is_some() || !target.has_role(role::SCHEDULER) {
        return Err(Error::NotPromotable);
    }
    if scheduler.depth + 1 >= MAX_SCHEDULERS {
        return Err(Error::HierarchyTooDeep);
    }
    let old = target.rank();
    let new = old.promoted(number, scheduler).ok_or(Error::NotPromotable)?;
    if PROMOTING.swap(true, Acquire) {
        return Err(Error::Busy);
    }
    let result = promote_alone(core, scheduler, target, (old, new));
    PROMOTING.store(false, Release);
    result
}

/// Two cores that promoted one component at the same time would both write into the paths of its upcalls. So one promotes at a
/// time, what is as it was when it was looked at: then nobody else changes its rank.
fn promote_alone(core: u64, scheduler: Scheduler, target: &Component, (old, new): (Rank, Rank)) -> Result<(), Error> {
    if target.rank() != old {
        return Err(Error::Busy);
    }
    let line = scheduler.line().ok_or(Error::NotScheduler)?;
    // Nobody schedules its upcall threads now: what they were in the middle of belongs to an older promotion.
    for upcall in target.upcalls.iter().take(crate::machine::cores()).filter_map(|it| it.checked_sub(1)) {
        let Some(upcall) = thread::any(upcall.into()) else { continue };
        // SAFETY: the state is an atomic; the rest is this core's from `take` to `release`.
        unsafe {
            if !(*upcall).take_new(core) {
                return Err(Error::Busy);
            }
            (*upcall).set(state::INACTIVE);
            (*upcall).clear(state::SUSPENDED);
            set_line((*upcall).path(), &line);
            (*upcall).release();
        }
    }
    target.shares.store(false, Relaxed);
    match target.rank.compare_exchange(old.0, new.0, SeqCst, SeqCst) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Busy),
    }
}

/// The path holds these, and nobody else.
fn set_line(path: &Path, line: &[Option<Scheduler>; MAX_SCHEDULERS]) {
    for (depth, scheduler) in line.iter().enumerate().rev() {
        path.set(depth, scheduler.map_or(Entry::NONE, |it| Entry::new(it.identity, 0)));
    }
}

fn demote(scheduler: Scheduler, other: u64) -> Result<(), Error> {
    let child = child(scheduler, other)?;
    let target = component::get(child.component());
    let rank = target.rank();
    match target.rank.compare_exchange(rank.0, rank.demoted().0, SeqCst, SeqCst) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::Busy),
    }
}

/// The path of a thread, to be granted or revoked. A scheduler's upcall threads belong to whoever promoted it.
fn path_of(number: u64) -> Result<&'static Path, Error> {
    let thread = thread::get(number).ok_or(Error::BadThread)?;
    // SAFETY: role and path are written during set-up or by atomics.
    unsafe {
        if (*thread).is_scheduler_upcall() {
            return Err(Error::BadThread);
        }
        Ok((*thread).path())
    }
}

fn grant(scheduler: Scheduler, thread: u64, other: u64) -> Result<(), Error> {
    let path = path_of(thread)?;
    if !path.holds(scheduler) {
        return Err(Error::NoRight);
    }
    let child = child(scheduler, other)?;
    let old = path.at(child.depth);
    if old.identity() == Some(child.identity) {
        return Ok(());
    }
    let held = old.identity().and_then(|it| path::scheduler(it.component())).is_some_and(|it| path.holds(it));
    if held {
        return Err(Error::Held);
    }
    let new = Entry::new(child.identity, 0);
    if !path.replace(child.depth, old, new) {
        return Err(Error::Busy);
    }
    // Whoever was under an older promotion is not under this one.
    for depth in child.depth + 1..MAX_SCHEDULERS {
        path.set(depth, Entry::NONE);
    }
    // The right may have been taken from the scheduler since it was looked at.
    if !path.holds(scheduler) {
        path.replace(child.depth, new, Entry::NONE);
        return Err(Error::NoRight);
    }
    Ok(())
}

fn revoke(scheduler: Scheduler, thread: u64, other: u64) -> Result<(), Error> {
    let path = path_of(thread)?;
    let child = child(scheduler, other)?;
    let held = path.at(child.depth);
    if held.identity() != Some(child.identity) {
        return Err(Error::NotHeld);
    }
    if !path.replace(child.depth, held, Entry::NONE) {
        return Err(Error::Busy);
    }
    for depth in child.depth + 1..MAX_SCHEDULERS {
        path.set(depth, Entry::NONE);
    }
    Ok(())
}

fn region(scheduler: Scheduler) -> Result<(), Error> {
    let component = component::get(scheduler.component());
    if component.slots.is_none() {
        return Err(Error::NoRegion);
    }
    component.shares.store(true, Relaxed);
    Ok(())
}

/// Whether this thread or brand has the slot in the scheduler's regions.
fn has_slot(holder: u16, scheduler: Scheduler, slot: u16) -> bool {
    let path = if holder & BRAND != 0 {
        brand::path_of(holder & !BRAND)
    } else {
        // SAFETY: paths are atomics; the number comes from the table of slots.
        holder.checked_sub(1).and_then(|it| thread::get(it.into())).map(|it| unsafe { (*it).path() })
    };
    path.is_some_and(|path| path.at(scheduler.depth) == Entry::new(scheduler.identity, slot))
}

fn slot(scheduler: Scheduler, number: u64, slot: u64) -> Result<(), Error> {
    let thread = thread::get(number).ok_or(Error::BadThread)?;
    let component = component::get(scheduler.component());
    let slots = component.slots.filter(|_| component.shares.load(Relaxed)).ok_or(Error::NoRegion)?;
    // SAFETY: brand and number are written before the thread is in use, path and mark are atomics.
    let (path, holder) = unsafe {
        let brand = (*thread).brand;
        ((*thread).path(), if brand == 0 { (*thread).id + 1 } else { BRAND | (brand - 1) })
    };
    let old = path.at(scheduler.depth);
    if old.identity() != Some(scheduler.identity) {
        return Err(Error::NoRight);
    }
    let bind = |slot| {
        if path.replace(scheduler.depth, old, Entry::new(scheduler.identity, slot)) {
            Ok(())
        } else {
            Err(Error::Busy)
        }
    };
    if slot == 0 {
        bind(0)?;
        // Its time is counted nowhere any more, unless it is an upcall's: of those all is counted.
        // SAFETY: atomics.
        let (counted, ordinary) = unsafe { (&(*thread).counted, (*thread).lacks(state::BRAND | state::SCHEDULER)) };
        let bound = || (0..MAX_SCHEDULERS).any(|depth| path.at(depth).slot() != 0);
        if ordinary && !bound() {
            counted.swap(false, SeqCst);
            // A scheduler at another depth may have bound it meanwhile.
            if bound() {
                counted.store(true, SeqCst);
            }
        }
        return Ok(());
    }
    let place = slots.get(slot as usize).filter(|_| slot < slots.len() as u64).ok_or(Error::BadSlot)?;
    let before = place.load(SeqCst);
    if before != holder {
        if has_slot(before, scheduler, slot as u16) {
            return Err(Error::BadSlot);
        }
        place.compare_exchange(before, holder, SeqCst, SeqCst).map_err(|_| Error::Busy)?;
        // The holder before may have bound itself in between.
        if has_slot(before, scheduler, slot as u16) {
            place.store(before, SeqCst);
            return Err(Error::BadSlot);
        }
    }
    bind(slot as u16)?;
    if place.load(SeqCst) != holder {
        path.replace(scheduler.depth, Entry::new(scheduler.identity, slot as u16), Entry::new(scheduler.identity, 0));
        return Err(Error::Busy);
    }
    // SAFETY: an atomic.
    unsafe { (*thread).counted.store(true, Relaxed) };
    Ok(())
}
