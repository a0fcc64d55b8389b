//! Decision for decision: does a trace of the kernel hold exactly what the policy decides?
//!
//! Each pair of `Enter` and `Leave` in a trace is one call of the policy. The calls of all cores are put into the
//! order in which they touched shared state (their tickets; calls without one by time) and made again on a fresh
//! policy. Three things are required of each, beside that its entry names the running task and the wanted time-out:
//!
//! 1. the records that the policy wrote are the same;
//! 2. so is the decision: job, time-out, ticket;
//! 3. the call was due: a time-out had expired, the running job had used its demand, or another core had sent an
//!    event; and nothing that was due waited longer than a tolerance. A core that is in its scheduler when
//!    something falls due is not late until it has left it.
//!
//! The third makes the check complete: a machine that forgot a time-out or invented one would replay well.
//!
//! Where a policy was told facts ([`tactus_policy::Input`]), the replay tells it the same. So the schedulers of a system with one
//! per server are replayed each by itself, from its own trace: what parent and child tell each other is recorded on both sides.
//!
//! Records of faults and refused calls are passed over; a call with reason `Fault` is an
//! [`Event::Remove`].

mod calls;
mod due;
mod order;
mod report;

pub use report::{Agreement, Disagreement, Lateness, What};

use calls::Call;
use due::Due;
use order::Order;
use report::Latenesses;
use tactus_policy::{Decision, Event, Input, Policy, PolicyConfig, PolicyConfigError, PolicySpec, Scheduler};
use tactus_record::{EntryReason, Record, Sink};
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::Trace;

/// How much earlier than due a call may come: clocks of cores and of workloads are converted from cycles and
/// rounded.
pub const EARLY: Duration = Duration::from_micros(1);

/// Replays `trace` on a fresh scheduler made from `setup`.
///
/// `demand` tells how long a job executes; nothing for a job that is not known (a component of the user's own),
/// whose completions are then taken as they come. `tolerance` is the longest time for which something that is due
/// may go unnoticed: the machine's overhead and, on an emulated machine, the bound of a core's turn.
///
/// The outer error says that the policy refuses the set-up; the inner one is the first disagreement.
///
/// # Errors
/// If the policy refuses the set-up.
pub fn lockstep(
    setup: &PolicyConfig,
    demand: impl FnMut(TaskId, u32) -> Option<Duration>,
    trace: &Trace,
    tolerance: Duration,
) -> Result<Result<Agreement, Disagreement>, PolicyConfigError> {
    let (scheduler, cores) = Scheduler::new(setup)?;
    // A child scheduler starts on a core when its parent gives it that core, if ever.
    let child = matches!(&setup.kind, PolicySpec::PerServer(plan) if plan.servers.first() != Some(&0));
    Ok(replay_of(&scheduler, cores, demand, (trace, !child), tolerance))
}

/// The same for any policy in its first state.
///
/// # Errors
/// The first disagreement.
pub fn replay<P: Policy>(
    policy: &P,
    states: Vec<P::Core>,
    demand: impl FnMut(TaskId, u32) -> Option<Duration>,
    trace: &Trace,
    tolerance: Duration,
) -> Result<Agreement, Disagreement> {
    replay_of(policy, states, demand, (trace, true), tolerance)
}

/// `all`: each core has to have started.
fn replay_of<P: Policy>(
    policy: &P,
    mut states: Vec<P::Core>,
    demand: impl FnMut(TaskId, u32) -> Option<Duration>,
    (trace, all): (&Trace, bool),
    tolerance: Duration,
) -> Result<Agreement, Disagreement> {
    let cores = states.len();
    if trace.cores.len() != cores {
        return Err(Disagreement::whole(What::Cores { expected: cores, found: trace.cores.len() }));
    }
    if let Some((core, n)) = trace.dropped.iter().enumerate().find(|(_, n)| **n > 0) {
        return Err(Disagreement::at_start(CoreId(core as u8), What::Dropped(*n)));
    }
    let calls = calls::of_trace(trace, all)?;
    let mut order = Order::new(&calls);
    let mut due = Due::new(cores, demand, tolerance);
    let mut late = Latenesses::default();
    let mut expected = Written(Vec::new());
    let mut agreement = Agreement { cores, ..Agreement::default() };
    while let Some(call) = order.next()? {
        let Some(leave) = call.leave else { unreachable!("only finished calls are ordered") };
        let lateness = due.enter(&call)?;
        late.of_reason(call.reason).push(lateness);

        expected.0.clear();
        let core = &mut states[call.core().index()];
        if call.reason == EntryReason::Unlock && !policy.awaits_unlock(core) {
            return Err(Disagreement::in_call(&call, What::NotSent));
        }
        if call.reason == EntryReason::Wait && !call.inputs().any(|input| matches!(input, Input::Wait { .. })) {
            return Err(Disagreement::in_call(&call, What::Shape("a job asks to wait, and no record says until when")));
        }
        call.inputs().for_each(|input| policy.input(core, input));
        let decision = policy.handle(core, call.enter.time, event(call.reason), &mut expected);
        same_records(&call, &expected.0)?;
        same_decision(&call, &decision, leave)?;
        due.leave(&call, &decision, leave.time);

        agreement.calls += 1;
        agreement.records += expected.0.len() as u64;
        agreement.jobs += u64::from(call.reason == EntryReason::Complete);
        late.turns.push(leave.time.since(call.enter.time));
    }
    let last = trace.cores.iter().flatten().map(|r| r.time).max().unwrap_or(Instant::ZERO);
    for core in 0..cores {
        let core = CoreId(core as u8);
        due.end(core, order.served_until(core).unwrap_or_else(|| calls::end_of(trace, core).unwrap_or(last)))?;
    }
    agreement.cut = order.left();
    late.into_agreement(&mut agreement);
    Ok(agreement)
}

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

struct Written(Vec<Record>);

impl Sink for Written {
    fn record(&mut self, record: Record) {
        self.0.push(record);
    }
}

fn same_records(call: &Call, expected: &[Record]) -> Result<(), Disagreement> {
    let mut found = call.written();
    for (position, expected) in expected.iter().enumerate() {
        let found = found.next();
        if found != Some(expected) {
            let what = What::Record { position, expected: Some(*expected), found: found.copied() };
            return Err(Disagreement::in_call(call, what));
        }
    }
    match found.next() {
        None => Ok(()),
        Some(more) => {
            let what = What::Record { position: expected.len(), expected: None, found: Some(*more) };
            Err(Disagreement::in_call(call, what))
        }
    }
}

fn same_decision(call: &Call, decision: &Decision, leave: &Record) -> Result<(), Disagreement> {
    let expected = (decision.run.map(|r| (r.task, r.job)), decision.timer, decision.ticket);
    let found = (leave.task.map(|t| (t, leave.job)), Instant::from_nanos(leave.arg), leave.ticket);
    if expected == found {
        return Ok(());
    }
    Err(Disagreement::in_call(call, What::Decision { expected: *decision, found: *leave }))
}
