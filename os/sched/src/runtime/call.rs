//! One call of a policy, between the records of its entry and its end.

use super::{CountedTasks, Counting, JobCounts};
use tactus_policy::{Decision, Event, Policy};
use tactus_record::{EntryReason, EventKind, Sink, Stored, Subject};
use tactus_rt::scheduler::{RingWriter, TraceRing};
use tactus_rt::time::{CoreId, Instant};

/// A reading of the clock.
#[derive(Clone, Copy, Debug)]
pub struct ClockReading {
    /// The reading of the time-stamp counter.
    pub stamp: u64,
    /// The point in time that it means.
    pub now: Instant,
}

/// Why a policy is called, and what ran until then.
#[derive(Clone, Copy)]
pub struct Entry {
    /// On this core.
    pub core: CoreId,
    /// For this reason.
    pub reason: EntryReason,
    /// At this time.
    pub now: Instant,
    /// The task that ran.
    pub running: Subject,
    /// When the timer was set to expire.
    pub wake: Instant,
    /// The job that is finished had nothing to do.
    pub idle: bool,
    /// The number of the job that ran, where the record of the entry tells it; else 0.
    pub job: u32,
}

/// The policy's event for a reason of entry.
#[inline(always)]
fn event(reason: EntryReason) -> Event {
    match reason {
        EntryReason::Start => Event::Start,
        EntryReason::Timer => Event::Timer,
        EntryReason::Complete => Event::Complete,
        EntryReason::Notify => Event::Notify,
        EntryReason::Fault => Event::Remove,
        EntryReason::Arrival => Event::Arrival,
        EntryReason::Unlock => Event::Unlock,
        EntryReason::Wait => Event::Wait,
        EntryReason::Lock => Event::Lock,
        EntryReason::Signal => Event::Signal,
        EntryReason::Slot => Event::Slot,
    }
}

/// What a call uses of a core's state beside the policy's own part.
pub trait Caller {
    /// The tasks that it counts.
    type Tasks: CountedTasks + 'static;
    /// The trace.
    fn ring(&mut self) -> &mut TraceRing;
    /// The counts, and whose they are.
    fn counts(&mut self) -> (&mut [JobCounts], &'static Self::Tasks);
    /// Reads the clock.
    fn read_clock(&self) -> ClockReading;
}

/// What comes of a call.
#[derive(Clone, Copy)]
pub struct Called {
    /// What the policy decided.
    pub decision: Decision,
    /// The clock after that.
    pub after: ClockReading,
    /// Whether a job ended or a task was removed, where [`CountedTasks::NOTES_CHANGES`].
    pub changed: bool,
}

/// Calls the policy, and writes and counts its records. `inputs` tells it what happened outside, with a record for each.
#[inline(always)]
pub fn call<P: Policy, C: Caller>(
    (policy, own): (&P, &mut P::Core),
    caller: &mut C,
    entry: Entry,
    inputs: impl FnOnce(&mut C, &P, &mut P::Core, RingWriter) -> RingWriter,
) -> Called {
    let Entry { core, reason, now, running, wake, idle, job } = entry;
    let level = reason as u8;
    let arg = if reason == EntryReason::Timer { wake.as_nanos() } else { idle.into() };
    let mut writer = caller.ring().writer();
    writer.store(Stored::about(running.with_level(level), now, core, EventKind::Enter, job, arg));
    // By value, so that it need not lie in memory for what nearly no call has.
    let writer = inputs(caller, policy, own, writer);
    let (counts, tasks) = caller.counts();
    let mut records = Counting { writer, counts, tasks, core, changed: false };
    let decision = policy.handle(own, now, event(reason), &mut records);
    let Counting { mut writer, changed, .. } = records;
    let after = caller.read_clock();
    let (subject, job) = match decision.run {
        Some(running) => (Subject::new(running.task, level), running.job),
        None => (Subject::NONE.with_level(level), 0),
    };
    let leave = Stored::about(subject, after.now, core, EventKind::Leave, job, decision.timer.as_nanos());
    writer.store(leave.with_ticket(decision.ticket));
    caller.ring().keep(writer);
    Called { decision, after, changed }
}
