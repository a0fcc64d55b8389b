//! The short way from a time-out to the thread that it wakes, which is the hottest of all: nothing but the timer's event has
//! come, and the policy has a short way too. Whatever is different is left to the long way, and finds everything as it was.

use crate::state::{self, Core, CoreState, Look};
use crate::verdict::Releasing;
use crate::{dispatch, publish, upcall_for, Dispatched};
use tactus_policy::{Policy, Visitor, MOST_RECORDS};
use tactus_record::{EntryReason, EventKind, Stored, Subject};
use tactus_rt::abi::call::SWITCH_UPCALL_DONE;
use tactus_rt::abi::shared::event;
use tactus_rt::region;
use tactus_rt::time::CoreId;

/// An upcall for the timer's event alone, which has been taken. Comes back if it takes the long way.
#[inline(always)]
pub fn upcall(core: u8) {
    let Some(Core { policy, state }) = state::running(core) else { return };
    let look = Look::take(state);
    // The limit of a core that has ended is past.
    if look.now < state.wake || look.now >= state.limit {
        return;
    }
    state.look = look;
    state.system.scheduler.visit(policy, Expiry(state))
}

/// A time-out of this core's.
struct Expiry<'a>(&'a mut CoreState);

impl Visitor for Expiry<'_> {
    type Output = ();

    /// Does not come back.
    #[inline(never)]
    fn visit<P: Policy>(self, policy: &P, own: &mut P::Core) {
        let Expiry(state) = self;
        upcall_for(state.core, expire(state, policy, own))
    }
}

/// What is left to be done the long way, if the core comes back.
#[inline(always)]
fn expire<P: Policy>(state: &mut CoreState, policy: &P, own: &mut P::Core) -> u64 {
    let Some(mut quill) = state.ring.room(MOST_RECORDS + 2) else { return event::TIMER };
    let (look, core, level) = (state.look, CoreId(state.core), EntryReason::Timer as u8);
    let enter = state.running.with_level(level);
    quill.store(Stored::about(enter, look.now, core, EventKind::Enter, 0, state.wake.as_nanos()));
    let mut records = Releasing { quill, counts: &mut state.counts };
    let Some(decision) = policy.expire(own, look.now, &mut records) else { return event::TIMER };
    let Releasing { mut quill, .. } = records;
    let after = Look::take(state);
    let (subject, job) = match decision.run {
        Some(running) => (Subject::new(running.task, level), running.job),
        None => (Subject::NONE.with_level(level), 0),
    };
    quill.store(Stored::about(subject, after.now, core, EventKind::Leave, job, decision.timer.as_nanos()));
    state.ring.keep_all(quill);
    state.decide(&decision);
    publish(state, &decision, look.stamp);
    match dispatch(state, core.0, region::of(core.0), SWITCH_UPCALL_DONE, after.now) {
        Dispatched::Taken | Dispatched::Refused => 0,
        Dispatched::Stopped => crate::recovery::lost(state),
    }
}
