//! The short path from a timer expiry to the thread that it wakes, which is the hottest of all: nothing but the timer's event
//! has come, and the policy has a short path too. Everything else takes the long path and finds all state as it was.

use crate::root::state::{self, Core, RootProgram};
use crate::root::verdict::Releasing;
use crate::root::{lost, publish, upcall_for, Root};
use crate::runtime::{dispatch, Caller as _, Dispatched};
use tactus_policy::{Policy, MOST_RECORDS};
use tactus_record::{EntryReason, EventKind, Stored, Subject};
use tactus_rt::abi::call::SWITCH_UPCALL_DONE;
use tactus_rt::abi::shared::event;
use tactus_rt::scheduler::{Borrowed, OwnRegion, RESERVED};
use tactus_rt::time::CoreId;

/// An upcall for the timer's event alone, which has been taken.
#[inline(always)]
pub fn upcall<R: RootProgram>(core: u8) -> ! {
    let Some(mut running) = state::running::<R>(core) else { upcall_for::<R>(core, event::TIMER, None) };
    let state = &mut running.state;
    let look = state.read_clock();
    // The limit of a core that has ended is past.
    if look.now < state.wake || look.now >= state.short_limit {
        upcall_for::<R>(core, event::TIMER, Some(running));
    }
    state.look = look;
    go_on::<R>(core, running)
}

const _: () = assert!(MOST_RECORDS + 2 <= RESERVED);

/// A timer expiry of this core. Does not return.
#[inline(never)]
fn go_on<R: RootProgram>(core: u8, running: Borrowed<'static, Core<R::Policy>>) -> ! {
    let due = expire::<R>(CoreId(core), running);
    upcall_for::<R>(core, due, state::running::<R>(core))
}

/// What remains for the long path, if the core returns.
#[inline(always)]
fn expire<R: RootProgram>(core: CoreId, mut running: Borrowed<'static, Core<R::Policy>>) -> u64 {
    let Core { policy, own, state } = &mut *running;
    let Some(mut writer) = state.ring.reserve() else { return event::TIMER };
    let (look, level) = (state.look, EntryReason::Timer as u8);
    let enter = state.running.with_level(level);
    writer.store(Stored::about(enter, look.now, core, EventKind::Enter, 0, state.wake.as_nanos()));
    let mut records = Releasing { writer, counts: &mut state.counts };
    let Some(decision) = policy.expire(own, look.now, &mut records) else { return event::TIMER };
    let Releasing { mut writer, .. } = records;
    let after = state.read_clock();
    let (subject, job) = match decision.run {
        Some(running) => (Subject::new(running.task, level), running.job),
        None => (Subject::NONE.with_level(level), 0),
    };
    writer.store(Stored::about(subject, after.now, core, EventKind::Leave, job, decision.timer.as_nanos()));
    state.ring.keep_reserved(writer);
    state.decide(&decision);
    publish(state, &decision, look.stamp);
    state.ring.note_time(after.now);
    let next = state.next();
    drop(running);
    OwnRegion::of(core.0).set_next_thread(next.thread);
    match dispatch::<Root<R>>(&next, SWITCH_UPCALL_DONE) {
        Dispatched::Taken | Dispatched::Refused => 0,
        Dispatched::Stopped => state::running::<R>(core.0).map_or(0, |mut running| lost(&mut running.state)),
    }
}
