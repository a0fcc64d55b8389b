//! The short paths from an event to the thread that runs next, which are the hottest of all: nothing but that event has come, and the
//! policy has a short way for it too. Everything else takes the long path and finds all state as it was.
//!
//! There are three: a timer expiry; something that arrives, by a call of the running job or by a device's interrupt; and the end of a
//! critical section for which another job waits.

use crate::root::state::{self, Core, CoreState, RootProgram};
use crate::root::verdict::Releasing;
use crate::root::{arrivals, lost, publish, sections, upcall_for, Root, ARRIVED, UNLOCKED};
use crate::runtime::{dispatch_once, Caller as _, ClockReading, Dispatched, Next};
use tactus_policy::{Decision, Policy, MOST_RECORDS};
use tactus_record::{EntryReason, EventKind, InputKind, Sink as _, Stored, Subject};
use tactus_rt::abi::call::{SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_rt::abi::shared::event;
use tactus_rt::scheduler::{Borrowed, OwnRegion, ReservedWriter, RESERVED};
use tactus_rt::time::{CoreId, Instant, TaskId};

/// An upcall for the timer's event alone, which has been taken.
#[inline(always)]
pub fn expiry<R: RootProgram>(core: u8) -> ! {
    let Some(mut running) = state::running::<R>(core) else { upcall_for::<R>(core, event::TIMER, None) };
    let state = &mut running.state;
    let look = state.read_clock();
    // The limit of a core that has ended is past.
    if look.now < state.wake || look.now >= state.short_limit {
        upcall_for::<R>(core, event::TIMER, Some(running));
    }
    go_on::<R>(core, running, look)
}

// Those of its begin and end, and of what arrived.
const _: () = assert!(MOST_RECORDS + 3 <= RESERVED);

/// A timer expiry of this core. Does not return.
#[inline(never)]
fn go_on<R: RootProgram>(core: u8, running: Borrowed<'static, Core<R::Policy>>, look: ClockReading) -> ! {
    let due = expire::<R>(CoreId(core), running, look);
    upcall_for::<R>(core, due, state::running::<R>(core))
}

/// What remains for the long path, if the core returns.
#[inline(always)]
fn expire<R: RootProgram>(core: CoreId, mut running: Borrowed<'static, Core<R::Policy>>, look: ClockReading) -> u64 {
    let Core { policy, own, state } = &mut *running;
    let Some(mut writer) = state.ring.reserve() else { return event::TIMER };
    let level = EntryReason::Timer as u8;
    let enter = state.running.with_level(level);
    writer.store(Stored::about(enter, look.now, core, EventKind::Enter, 0, state.wake.as_nanos()));
    let mut records = Releasing { writer, counts: &mut state.counts };
    let Some(decision) = policy.expire(own, look.now, &mut records) else { return event::TIMER };
    let Releasing { writer, .. } = records;
    let next = keep_looking(state, (core, &decision), (writer, level), look.stamp);
    drop(running);
    give::<R>(core, &next, SWITCH_UPCALL_DONE).unwrap_or(0)
}

/// An upcall for the event of lines alone, which has been taken.
#[inline(never)]
pub fn lines<R: RootProgram>(core: u8) -> ! {
    let Some(mut running) = state::running::<R>(core) else { upcall_for::<R>(core, event::LINE, None) };
    let region = OwnRegion::of(core);
    let lines = region.take_lines();
    let line = lines.trailing_zeros() as usize;
    let due = match running.state.system.lines.get(line).copied().flatten() {
        Some(task) if lines & lines.wrapping_sub(1) == 0 && arrivals::takes(&mut running.state, task) => {
            let stamp = region.line_time(line);
            arrive::<R>(CoreId(core), running, (task, Some(stamp)), (SWITCH_UPCALL_DONE, true)).unwrap_or(0)
        }
        _ => {
            arrivals::push_lines(&mut running.state, region, lines);
            drop(running);
            ARRIVED
        }
    };
    upcall_for::<R>(core, due, state::running::<R>(core))
}

/// Something has arrived for the task, by a call of the thread that runs or by a line, and nothing else is due: at this reading of the
/// time-stamp counter, or now. What is due for the long path; nothing if the decision was dispatched, and the thread that called goes on.
/// `may_idle`: whether the core may have been idle.
#[inline(always)]
pub fn arrive<R: RootProgram>(
    core: CoreId,
    mut running: Borrowed<'static, Core<R::Policy>>,
    arrival: (TaskId, Option<u64>),
    (flags, may_idle): (u64, bool),
) -> Option<u64> {
    let Core { policy, own, state } = &mut *running;
    let next = if !may_idle {
        release(state, (*policy, own), core, arrival, Way::Busy)
    } else if state.running == Subject::NONE {
        release(state, (*policy, own), core, arrival, Way::Idle)
    } else {
        drop(running);
        return arrive_busy::<R>(core, arrival.0, arrival.1, flags);
    };
    drop(running);
    match next {
        Some(next) => give::<R>(core, &next, flags),
        None => arrive_behind::<R>(core, arrival.0, arrival.1, flags),
    }
}

/// The same where the core is not idle.
#[inline(never)]
fn arrive_busy<R: RootProgram>(core: CoreId, task: TaskId, stamp: Option<u64>, flags: u64) -> Option<u64> {
    arrive::<R>(core, state::running::<R>(core.0)?, (task, stamp), (flags, false))
}

/// The same where the job that is released may have to wait, or has no short way.
#[inline(never)]
fn arrive_behind<R: RootProgram>(core: CoreId, task: TaskId, stamp: Option<u64>, flags: u64) -> Option<u64> {
    let mut running = state::running::<R>(core.0)?;
    let Core { policy, own, state } = &mut *running;
    let usual = state.sections.is_empty() && policy.may_arrive(own, task);
    let next = if usual { release(state, (*policy, own), core, (task, stamp), Way::Behind) } else { None };
    let Some(next) = next else {
        let at = stamp.map_or(Instant::NEVER, |stamp| state.instant(stamp));
        state.arrivals.push(task, at);
        return Some(ARRIVED);
    };
    drop(running);
    give::<R>(core, &next, flags)
}

/// The policy's short ways for an arrival.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Its job has the core, which was idle.
    Idle,
    /// Its job has the core of another one.
    Busy,
    /// All others.
    Behind,
}

/// As [`arrive`], by this short way of the policy: who is to run. Nothing, and no change, if it needs another way. The first two are for
/// counters of nanoseconds.
#[inline(always)]
fn release<P: Policy>(
    state: &mut CoreState,
    (policy, own): (&P, &mut P::Core),
    core: CoreId,
    (task, stamp): (TaskId, Option<u64>),
    way: Way,
) -> Option<Next> {
    let is_first = way != Way::Behind;
    let (look, limit) = match is_first {
        true => (state.read_nanosecond_clock(), state.arrival_limit),
        false => (state.read_clock(), state.lone_limit),
    };
    // What had arrived before was told in the long path that found it.
    debug_assert!(state.arrivals.are_none());
    let mut writer = state.ring.reserve().filter(|_| look.now < limit)?;
    let level = EntryReason::Arrival as u8;
    let at = match stamp {
        // It may have come before the run began.
        Some(stamp) if is_first => Instant::from_nanos(stamp.saturating_sub(state.epoch)).min(look.now),
        Some(stamp) => state.instant(stamp).min(look.now),
        None => look.now,
    };
    writer.store(Stored::about(state.running.with_level(level), look.now, core, EventKind::Enter, 0, 0));
    let input = Subject::new(task, InputKind::Arrival as u8);
    writer.store(Stored::about(input, look.now, core, EventKind::Input, 0, at.as_nanos()));
    let decision = match way {
        Way::Idle => policy.arrive_first(own, look.now, (task, at), true, &mut writer)?,
        Way::Busy => policy.arrive_first(own, look.now, (task, at), false, &mut writer)?,
        Way::Behind => policy.arrive(own, look.now, (task, at), &mut writer)?,
    };
    if let Some(counts) = state.counts.get_mut(task.index()) {
        counts.released += 1;
    }
    let (after, counts_nanoseconds) = match is_first {
        true => (state.read_nanosecond_clock(), true),
        false => (state.read_clock(), state.nanosecond_clock),
    };
    let next = keep(state, (core, &decision, counts_nanoseconds), (writer, level), (look.stamp, after));
    Some(next)
}

/// The task's job, which runs, has left all sections, for one of which another job waits, and nothing else is due. As [`arrive`].
#[inline(always)]
pub fn unlock<R: RootProgram>(
    core: CoreId,
    mut running: Borrowed<'static, Core<R::Policy>>,
    task: TaskId,
) -> Option<u64> {
    let Core { policy, own, state } = &mut *running;
    let next = if state.hands_over { hand_over(state, (*policy, own), core, task) } else { None };
    let Some(next) = next else { return Some(UNLOCKED) };
    drop(running);
    give::<R>(core, &next, SWITCH_RETURN)
}

/// As [`unlock`]: who is to run. Nothing, and no change, if it needs the long path.
#[inline(always)]
fn hand_over<P: Policy>(
    state: &mut CoreState,
    (policy, own): (&P, &mut P::Core),
    core: CoreId,
    task: TaskId,
) -> Option<Next> {
    let look = state.read_clock();
    let mut writer = state.ring.reserve().filter(|_| look.now < state.lone_limit)?;
    let level = EntryReason::Unlock as u8;
    writer.store(Stored::about(state.running.with_level(level), look.now, core, EventKind::Enter, 0, 0));
    let input = Subject::new(task, InputKind::Section as u8);
    writer.store(Stored::about(input, look.now, core, EventKind::Input, 0, look.now.as_nanos()));
    let decision = policy.unlock(own, look.now, &mut writer)?;
    sections::note_left(&mut state.sections, task);
    let next = keep_looking(state, (core, &decision), (writer, level), look.stamp);
    if let Some(running) = decision.run {
        sections::publish_to((policy, own), running.task);
    }
    Some(next)
}

/// As [`keep`], with a look at the clock now.
#[inline(always)]
fn keep_looking(
    state: &mut CoreState,
    decided: (CoreId, &Decision),
    writing: (ReservedWriter, u8),
    stamp: u64,
) -> Next {
    let (after, nanosecond_clock) = (state.read_clock(), state.nanosecond_clock);
    keep(state, (decided.0, decided.1, nanosecond_clock), writing, (stamp, after))
}

/// Records what was decided, and keeps and publishes it. Who is to run, from the reading `stamp` of the time-stamp counter on; which
/// counts nanoseconds, or not.
#[inline(always)]
fn keep(
    state: &mut CoreState,
    (core, decision, nanosecond_clock): (CoreId, &Decision, bool),
    (mut writer, level): (ReservedWriter, u8),
    (stamp, after): (u64, ClockReading),
) -> Next {
    let (subject, job) = match decision.run {
        Some(running) => (Subject::new(running.task, level), running.job),
        None => (Subject::NONE.with_level(level), 0),
    };
    writer.store(Stored::about(subject, after.now, core, EventKind::Leave, job, decision.timer.as_nanos()));
    state.ring.keep_reserved(writer);
    state.decide_by(decision, nanosecond_clock);
    let next = state.next();
    publish(state, decision, stamp);
    state.ring.note_time(after.now);
    next
}

/// Gives the core to whom was decided. What is due then for the long path; nothing if the core has come back.
#[inline(always)]
fn give<R: RootProgram>(core: CoreId, next: &Next, flags: u64) -> Option<u64> {
    OwnRegion::of(core.0).set_next_thread(next.thread);
    match dispatch_once::<Root<R>>(next, flags) {
        Dispatched::Taken => None,
        Dispatched::Refused => Some(0),
        Dispatched::Stopped => Some(state::running::<R>(core.0).map_or(0, |mut running| lost(&mut running.state))),
    }
}
