//! One decision.

use crate::state::{Child, CoreState, System};
use crate::{faults, verdict};
use tactus_policy::{Decision, Input, Policy, Running};
use tactus_record::{EntryReason, EventKind, InputKind, Sink, Stored, Subject};
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT};
use tactus_rt::abi::shared::event;
use tactus_rt::clock;
use tactus_rt::scheduler::{publish_job, OwnRegion, TraceRing};
use tactus_rt::time::{CoreId, Instant};
use tactus_sched::recovery;
use tactus_sched::runtime::{self, Called, Caller, ClockReading, Entry, JobCounts, Next, COMPLETED, REMOVED};

/// Handles what is due and says who is to run. Inside the core's lock.
pub fn step(state: &mut CoreState, region: OwnRegion, mut due: u64) -> Next {
    if due & event::RESTARTED != 0 {
        recovery::by_another(state, region.restarted());
    }
    if due & event::FAULT != 0 {
        due |= faults::handle(state, region);
    }
    let now = read_clock().now;
    if now >= state.limit {
        if now >= state.end {
            verdict::end(state, region, now);
            return Next::NOBODY;
        }
        recovery::go_on(state);
    }
    faults::pass_on(state.system);
    let (look, left) = look(region, &mut due);
    let absent = left.filter(|_| state.begun).map(|left| Input::Absent { since: clock::instant(left) });
    let sleep = if due & event::CHILD_IDLE == 0 { None } else { child_sleeps(state, region) };
    let Some(reason) = reason(state, due, look.now, (absent.is_some(), sleep.is_some())) else {
        return timed(state, state.next);
    };
    call(state, look, reason, [absent, sleep])
}

/// Reads the clock, and tells until when this scheduler had the core if its parent had it since. The parent may take the core at any
/// instruction: so it is looked for last whether it did. Else the time of an absence that is not known yet would be charged.
fn look(region: OwnRegion, due: &mut u64) -> (ClockReading, Option<u64>) {
    let mut left: Option<u64> = None;
    loop {
        // The first one counts: in between there was no decision.
        left = left.or(region.take_left());
        let look = read_clock();
        let more = region.take_events();
        *due |= more;
        if more & event::GIVEN == 0 {
            return (look, left);
        }
    }
}

/// Why the policy is called; nothing if nothing is due.
fn reason(state: &mut CoreState, due: u64, now: Instant, (absent, sleep): (bool, bool)) -> Option<EntryReason> {
    if !core::mem::replace(&mut state.begun, true) {
        return Some(EntryReason::Start);
    }
    if due & REMOVED != 0 {
        Some(EntryReason::Fault)
    } else if due & COMPLETED != 0 || sleep {
        Some(EntryReason::Complete)
    } else if absent {
        Some(EntryReason::Notify)
    } else {
        (now >= state.wake).then_some(EntryReason::Timer)
    }
}

/// One call of the policy.
fn call(state: &mut CoreState, look: ClockReading, reason: EntryReason, told: [Option<Input>; 2]) -> Next {
    let (core, system) = (CoreId(state.core), state.system);
    let before = state.running.task();
    if let (EntryReason::Complete, Some(index)) = (reason, before.and_then(|task| system.own(task))) {
        system.jobs[index].finish();
    }
    let entry = Entry { core, reason, now: look.now, running: state.running, wake: state.wake, idle: false, job: 0 };
    let mut caller = Counted { ring: &mut state.ring, counts: &mut state.counts, system };
    let policy = (&system.scheduler, &mut state.policy);
    let Called { decision, after, changed } =
        runtime::call(policy, &mut caller, entry, |_, policy, own, mut writer| {
            for input in told.into_iter().flatten() {
                let (subject, at) = match input {
                    Input::Absent { since } => (Subject::NONE.with_level(InputKind::Absent as u8), since),
                    Input::Arrival { task, at } => (Subject::new(task, InputKind::Arrival as u8), at),
                    // Only the root of a single scheduler knows resources and waits.
                    Input::Section { since, .. } => (Subject::NONE.with_level(InputKind::Section as u8), since),
                    Input::Wait { until } => (Subject::NONE.with_level(InputKind::Wait as u8), until),
                    // No job of a child scheduler signals or awaits events, and no server in one has to do with counters.
                    Input::Event(_) | Input::Misses { .. } | Input::WriteBacks { .. } | Input::Sample { .. } => {
                        continue
                    }
                    // Slots are where one scheduler decides for all.
                    Input::SlotTask { .. } | Input::Slot { .. } => continue,
                    Input::Sleep { proxy, until } => (Subject::new(proxy, InputKind::Sleep as u8), until),
                };
                writer.store(Stored::about(subject, look.now, core, EventKind::Input, 0, at.as_nanos()));
                policy.input(own, input);
            }
            writer
        });
    if let (EntryReason::Fault, Some(task)) = (reason, before) {
        faults::gone(state, task);
    }
    state.ring.note_time(after.now);
    if changed || reason == EntryReason::Start {
        verdict::publish(state);
    }
    keep(state, &decision, look.stamp)
}

/// What a call uses of a core's state beside the policy's own part.
struct Counted<'a> {
    ring: &'a mut TraceRing,
    counts: &'a mut [JobCounts],
    system: &'static System,
}

impl Caller for Counted<'_> {
    type Tasks = System;
    fn ring(&mut self) -> &mut TraceRing {
        self.ring
    }
    fn counts(&mut self) -> (&mut [JobCounts], &'static System) {
        (self.counts, self.system)
    }
    fn read_clock(&self) -> ClockReading {
        read_clock()
    }
}

/// Reads the clock.
fn read_clock() -> ClockReading {
    let stamp = clock::time_stamp();
    ClockReading { stamp, now: clock::instant(stamp) }
}

/// The child scheduler that had the core has given it back, not to be asked for before a time.
fn child_sleeps(state: &CoreState, region: OwnRegion) -> Option<Input> {
    let child = state.running.task().and_then(|task| state.system.child(task))?;
    let timeout = region.take_child_idle(child.upcall)?;
    let until = if timeout == NO_TIMEOUT { Instant::NEVER } else { clock::instant(timeout) };
    Some(Input::Sleep { proxy: child.proxy, until })
}

/// Whether the child scheduler has yielded the core and has nothing to run.
pub fn is_idle(child: &Child) -> bool {
    OwnRegion::of(child.core.0).child_is_idle(child.upcall)
}

/// Keeps the decision and what follows from it.
fn keep(state: &mut CoreState, decision: &Decision, stamp: u64) -> Next {
    state.wake = decision.timer;
    state.running = decision.run.map_or(Subject::NONE, |running| Subject::new(running.task, 0));
    state.job = decision.run.map_or(0, |running| running.job);
    let thread = match decision.run {
        None => IDLE,
        Some(running) => match state.system.child(running.task) {
            Some(child) => child.upcall,
            None => {
                publish(state, &running, stamp);
                state.system.thread_of(running.task)
            }
        },
    };
    state.next = Next { thread, ..Next::NOBODY };
    timed(state, state.next)
}

/// The choice with the time limit that it has now, and whether its thread has to begin anew.
fn timed(state: &CoreState, next: Next) -> Next {
    let at = if state.system.root { state.wake.min(state.limit) } else { state.wake };
    let timeout = if at == Instant::NEVER { NO_TIMEOUT } else { clock::reading(at) };
    // The thread may still be in the middle of a job that was killed.
    let behind = state.run().and_then(|(task, job)| {
        let index = state.system.own(task)?;
        state.system.jobs[index].is_behind(job).then_some((index, job))
    });
    Next { timeout, restarts_with: behind, ..next }
}

/// Tells the chosen job's component what it needs to know.
fn publish(state: &CoreState, running: &Running, stamp: u64) {
    let Some(index) = state.system.own(running.task) else { return };
    // The thread does not run now: this core is in the scheduler, and no other core has it.
    let release = state.counts[index].release(running.job);
    publish_job(running.task, running.job, running.charged, stamp, release);
    let job = &state.system.jobs[index];
    if !job.is_behind(running.job) {
        job.begin(running.job);
    }
}
