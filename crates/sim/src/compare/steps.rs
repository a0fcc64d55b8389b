//! A run as sequences: what each core began to run and what it finished.

use super::{Cause, Divergence, OnCore, Step};
use tactus_record::{EntryReason, EventKind, Record};
use tactus_time::{Duration, Instant, TaskId};
use tactus_trace::Trace;

/// The sequences of one run.
pub struct Steps {
    /// Each core's dispatches and completions. A job that goes on after nothing else ran is one step.
    cores: Vec<Vec<Step>>,
    /// The same with what only the policy sees: ghosts and used-up budgets.
    inner: Vec<Vec<Inner>>,
    /// When the run ended.
    end: Instant,
}

/// One record of the policy.
struct Inner {
    kind: EventKind,
    /// What a ghost has left, if it is one that ends.
    left: Duration,
    time: Instant,
    /// Nothing for what becomes of a server's budget.
    task: Option<TaskId>,
    /// Of a server, its place.
    job: u32,
}

impl Inner {
    fn what(&self) -> (EventKind, Option<TaskId>, u32) {
        (self.kind, self.task, self.job)
    }
    fn used_up(&self) -> bool {
        self.kind == EventKind::GhostEnd && self.left.is_zero()
    }
    fn same(&self, other: &Inner) -> bool {
        self.what() == other.what() && self.used_up() == other.used_up()
    }
}

impl Steps {
    /// Reads them from a trace.
    pub fn of(trace: &Trace) -> Steps {
        let step = |r: &Record| {
            Some(Step { time: r.time, task: r.task?, job: r.job, finished: r.kind == EventKind::Complete })
        };
        let inner = trace.cores.iter().map(|records| {
            let wanted = records.iter().filter(|r| r.kind.is_policy());
            let wanted = wanted.filter(|r| !matches!(r.kind, EventKind::Release | EventKind::Notify | EventKind::Idle));
            let inner = |r: &Record| {
                let Record { kind, time, task, job, .. } = *r;
                Inner { kind, left: Duration::from_nanos(r.arg), time, task, job }
            };
            wanted.map(inner).collect()
        });
        let cores = trace.cores.iter().map(|records| {
            let wanted = records.iter().filter(|r| matches!(r.kind, EventKind::Dispatch | EventKind::Complete));
            let mut steps: Vec<Step> = wanted.filter_map(step).collect();
            steps.dedup_by_key(|s| s.what());
            steps
        });
        let last = trace.cores.iter().flatten().map(|r| r.time).max().unwrap_or(Instant::ZERO);
        Steps { cores: cores.collect(), inner: inner.collect(), end: last }
    }

    fn on(&self, core: usize) -> &[Step] {
        self.cores.get(core).map_or(&[], Vec::as_slice)
    }
}

/// The common prefix of a core's steps. Where they part, the cause is still open ([`Cause::Disagreement`]).
pub fn common(expected: &Steps, found: &Steps, core: usize, tolerance: Duration) -> OnCore {
    let (left, right) = (expected.on(core), found.on(core));
    let equal = left.iter().zip(right).take_while(|(a, b)| a.what() == b.what()).count();
    let mut on_core = OnCore::default();
    count(&mut on_core, &left[..equal]);
    measure(&mut on_core, expected, found, core, Instant::NEVER);
    let next = (left.get(equal).copied(), right.get(equal).copied());
    // One run may just have reached its end before the step.
    let slack = tolerance.max(on_core.largest_difference());
    let beyond = |step: Step, other: &Steps| step.time.saturating_add(slack) >= other.end;
    on_core.divergence = match next {
        (None, None) => None,
        (Some(step), None) if beyond(step, found) => None,
        (None, Some(step)) if beyond(step, expected) => None,
        (expected, found) => Some(Divergence { place: equal, expected, found, cause: Cause::Disagreement }),
    };
    on_core
}

/// Where a core's two runs first differ in what the policy sees; before a difference in what runs, if that has its
/// cause in a ghost or a budget. With the time, if they differ only in whether a ghost had used up its budget when
/// something else ended it, what was left.
pub fn inner_difference(expected: &Steps, found: &Steps, core: usize) -> Option<(Instant, Option<Duration>)> {
    let (left, right) = (expected.inner.get(core)?, found.inner.get(core)?);
    let (a, b) = left.iter().zip(right).find(|(a, b)| !a.same(b))?;
    let budget = (a.what() == b.what()).then_some(a.left.max(b.left));
    Some((a.time.min(b.time), budget))
}

/// Leaves only the common steps up to `until` in a core's account, and measures differences in time up to where the
/// policy first sees a difference on this core, or before `diverged`.
pub fn cut(expected: &Steps, found: &Steps, core: usize, until: Instant, diverged: Instant, on_core: &mut OnCore) {
    let (left, right) = (expected.on(core), found.on(core));
    let common = on_core.dispatches + on_core.completions;
    let before = left.iter().zip(right).take(common).take_while(|(a, b)| a.time.min(b.time) <= until).count();
    *on_core = OnCore { divergence: on_core.divergence, ..OnCore::default() };
    count(on_core, &left[..before]);
    measure(on_core, expected, found, core, diverged);
}

fn count(on_core: &mut OnCore, steps: &[Step]) {
    on_core.completions = steps.iter().filter(|s| s.finished).count();
    on_core.dispatches = steps.len() - on_core.completions;
}

fn measure(on_core: &mut OnCore, expected: &Steps, found: &Steps, core: usize, diverged: Instant) {
    let (Some(left), Some(right)) = (expected.inner.get(core), found.inner.get(core)) else { return };
    for (a, b) in left.iter().zip(right).take_while(|(a, b)| a.same(b)) {
        let (first, last) = (a.time.min(b.time), a.time.max(b.time));
        if last >= diverged {
            break;
        }
        let most = match a.kind {
            EventKind::Dispatch => &mut on_core.dispatch_difference,
            EventKind::Complete => &mut on_core.completion_difference,
            _ => continue,
        };
        *most = (last - first).max(*most);
    }
}

/// The system's own work on a core before `until`.
pub fn overhead(trace: &Trace, core: usize, until: Instant) -> Duration {
    let Some(records) = trace.cores.get(core) else { return Duration::ZERO };
    let mut sum = Duration::ZERO;
    let mut entered = Instant::ZERO;
    for record in records.iter().take_while(|r| r.time < until) {
        match record.kind {
            EventKind::Enter => {
                entered = record.time;
                if record.level == EntryReason::Timer as u8 {
                    sum += entered.since(Instant::from_nanos(record.arg));
                }
            }
            EventKind::Leave => sum += record.time.since(entered),
            _ => {}
        }
    }
    sum
}

/// What the jobs that finished on a core were charged beyond their demand, from when it was last idle until `until`.
pub fn overrun(
    trace: &Trace,
    core: usize,
    until: Instant,
    demand: &mut impl FnMut(TaskId, u32) -> Option<Duration>,
) -> Duration {
    let Some(records) = trace.cores.get(core) else { return Duration::ZERO };
    let mut sum = Duration::ZERO;
    for record in records.iter().take_while(|r| r.time < until) {
        match (record.kind, record.task) {
            (EventKind::Idle, _) => sum = Duration::ZERO,
            (EventKind::Complete, Some(task)) => {
                let charged = Duration::from_nanos(record.arg);
                sum += demand(task, record.job).map_or(Duration::ZERO, |demand| charged.saturating_sub(demand));
            }
            _ => {}
        }
    }
    sum
}

/// When the free run's core last left a job of one of the tasks that part, with something else in between: which of them goes on may
/// have been settled then.
pub fn left_before(expected: &Steps, core: usize, divergence: &Divergence) -> Option<Instant> {
    let parts = [divergence.expected, divergence.found];
    let concerned = |step: &Step| parts.iter().flatten().any(|it| it.task == step.task) && !step.finished;
    let steps = expected.on(core);
    let last = steps.get(..divergence.place)?.iter().rposition(concerned)?;
    Some(steps.get(last + 1)?.time)
}

/// When the free run's core last left a job of the task, before the runs part.
pub fn left_task(expected: &Steps, core: usize, task: TaskId, divergence: &Divergence) -> Option<Instant> {
    let steps = expected.on(core);
    let last = steps.get(..divergence.place)?.iter().rposition(|step| step.task == task)?;
    Some(steps.get(last + 1)?.time)
}

/// What a job was charged on all cores until `until`, from decision to decision.
pub fn charged(trace: &Trace, step: &Step, until: Instant) -> Duration {
    let mut sum = Duration::ZERO;
    for records in &trace.cores {
        let mut running = false;
        let mut since = Instant::ZERO;
        for record in records.iter().filter(|r| matches!(r.kind, EventKind::Enter | EventKind::Leave | EventKind::End))
        {
            if record.kind == EventKind::Leave {
                running = (record.task, record.job) == (Some(step.task), step.job);
                continue;
            }
            if std::mem::take(&mut running) {
                sum += record.time.min(until).since(since);
            }
            since = record.time;
            if since >= until {
                break;
            }
        }
    }
    sum
}

/// How far the other run is behind with the job that one run finishes where they part, or with the last step that
/// they have in common.
pub fn lag(
    expected: (&Trace, &Steps),
    found: (&Trace, &Steps),
    core: usize,
    divergence: &Divergence,
    demand: &mut impl FnMut(TaskId, u32) -> Option<Duration>,
) -> Duration {
    let place = divergence.place.wrapping_sub(1);
    let last = expected.1.on(core).get(place).zip(found.1.on(core).get(place));
    let apart = last.map_or(Duration::ZERO, |(a, b)| a.time.max(b.time) - a.time.min(b.time));
    let behind = |(step, other): (Option<Step>, &Trace)| {
        let step = step.filter(|s| s.finished)?;
        Some(demand(step.task, step.job)?.saturating_sub(charged(other, &step, step.time)))
    };
    let both = [(divergence.expected, found.0), (divergence.found, expected.0)];
    both.into_iter().filter_map(behind).chain([apart]).max().unwrap_or_default()
}
