//! The short paths from an event to the thread that runs next, which are the hottest of all: nothing but that event has come, and the
//! policy has a short way for it too. Everything else takes the long path and finds all state as it was.
//!
//! There are two: a timer expiry, and something that arrives, by a call of the running job or by a device's interrupt.

use crate::root::state::{self, Core, CoreState, PolicyCore};
use crate::root::verdict::Releasing;
use crate::root::{arrivals, publish, upcall_for, Root, ARRIVED};
use tactus_policy::{Decision, Policy, MOST_RECORDS};
use tactus_record::{EntryReason, EventKind, InputKind, Stored, Subject};
use tactus_rt::abi::call::SWITCH_UPCALL_DONE;
use tactus_rt::abi::shared::event;
use tactus_rt::clock;
use tactus_rt::scheduler::{OwnRegion, ReservedWriter, RESERVED};
use tactus_rt::time::{CoreId, Instant, TaskId};
use tactus_sched::runtime::{dispatch, Caller as _, Dispatched};

/// An upcall for the timer's event alone, which has been taken. Returns if it needs the long path.
#[inline(always)]
pub fn expiry(core: u8) {
    let Some(Core { policy, state }) = state::running(core) else { return };
    let look = state.read_clock();
    // The limit of a core that has ended is past.
    if look.now < state.wake || look.now >= state.short_limit {
        return;
    }
    state.look = look;
    go_on(state, policy)
}

// Those of its begin and end, and of what arrived.
const _: () = assert!(MOST_RECORDS + 3 <= RESERVED);

/// A timer expiry of this core. Does not return.
#[inline(never)]
fn go_on(state: &mut CoreState, own: &mut PolicyCore) {
    let system = state.system;
    upcall_for(state.core, expire(state, &system.scheduler, own))
}

/// What remains for the long path, if the core returns.
#[inline(always)]
fn expire<P: Policy>(state: &mut CoreState, policy: &P, own: &mut P::Core) -> u64 {
    let Some(mut writer) = state.ring.reserve() else { return event::TIMER };
    let (look, core, level) = (state.look, CoreId(state.core), EntryReason::Timer as u8);
    let enter = state.running.with_level(level);
    writer.store(Stored::about(enter, look.now, core, EventKind::Enter, 0, state.wake.as_nanos()));
    let mut records = Releasing { writer, counts: &mut state.counts };
    let Some(decision) = policy.expire(own, look.now, &mut records) else { return event::TIMER };
    let Releasing { writer, .. } = records;
    decided(state, &decision, (writer, level), SWITCH_UPCALL_DONE).unwrap_or(0)
}

/// An upcall for the event of lines alone, which has been taken. What is due for the long path, if it returns.
#[inline(never)]
pub fn lines(core: u8) -> u64 {
    let Some(Core { policy, state }) = state::running(core) else { return event::LINE };
    let region = OwnRegion::of(core);
    let lines = region.take_lines();
    let line = lines.trailing_zeros() as usize;
    match state.system.lines.get(line).copied().flatten() {
        Some(task) if lines & lines.wrapping_sub(1) == 0 => {
            let at = clock::instant(region.line_time(line));
            arrive(state, policy, (task, at), SWITCH_UPCALL_DONE).unwrap_or(0)
        }
        _ => {
            arrivals::push_lines(state, region, lines);
            ARRIVED
        }
    }
}

/// Something has arrived for the task, by a call of the thread that runs or by a line, and nothing else is due. What is due for the long
/// path; nothing if the decision was dispatched, and the thread that called goes on.
#[inline(always)]
pub fn arrive(state: &mut CoreState, own: &mut PolicyCore, (task, at): (TaskId, Instant), flags: u64) -> Option<u64> {
    let system = state.system;
    let usual = state.arrivals.are_none() && state.sections.is_empty();
    let due = if usual { release(state, (&system.scheduler, own), (task, at), flags) } else { Some(ARRIVED) };
    if due == Some(ARRIVED) {
        state.arrivals.push(task, at);
    }
    due
}

/// As [`arrive`], where that has looked at what it must.
#[inline(always)]
fn release<P: Policy>(
    state: &mut CoreState,
    (policy, own): (&P, &mut P::Core),
    (task, at): (TaskId, Instant),
    flags: u64,
) -> Option<u64> {
    let look = state.read_clock();
    let Some(mut writer) = state.ring.reserve().filter(|_| look.now < state.short_limit) else { return Some(ARRIVED) };
    let (core, level, at) = (CoreId(state.core), EntryReason::Arrival as u8, at.min(look.now));
    writer.store(Stored::about(state.running.with_level(level), look.now, core, EventKind::Enter, 0, 0));
    let input = Subject::new(task, InputKind::Arrival as u8);
    writer.store(Stored::about(input, look.now, core, EventKind::Input, 0, at.as_nanos()));
    let mut records = Releasing { writer, counts: &mut state.counts };
    let Some(decision) = policy.arrive(own, look.now, (task, at), &mut records) else { return Some(ARRIVED) };
    let Releasing { writer, .. } = records;
    state.look = look;
    decided(state, &decision, (writer, level), flags)
}

/// Records what was decided, and dispatches it. What is due then for the long path; nothing if the core has come back.
#[inline(always)]
fn decided(
    state: &mut CoreState,
    decision: &Decision,
    (mut writer, level): (ReservedWriter, u8),
    flags: u64,
) -> Option<u64> {
    let after = state.read_clock();
    let (subject, job) = match decision.run {
        Some(running) => (Subject::new(running.task, level), running.job),
        None => (Subject::NONE.with_level(level), 0),
    };
    let core = CoreId(state.core);
    writer.store(Stored::about(subject, after.now, core, EventKind::Leave, job, decision.timer.as_nanos()));
    state.ring.keep_reserved(writer);
    state.decide(decision);
    publish(state, decision, state.look.stamp);
    state.ring.note_time(after.now);
    let next = state.next();
    OwnRegion::of(core.0).set_next_thread(next.thread);
    match dispatch::<Root>(&next, flags) {
        Dispatched::Taken => None,
        Dispatched::Refused => Some(0),
        Dispatched::Stopped => Some(crate::root::lost(state)),
    }
}
