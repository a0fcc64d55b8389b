//! A run as sequences: what each core began to run and what it finished.

use super::{Cause, Divergence, OnCore, Step};
use tactus_record::{EntryReason, Kind};
use tactus_time::{Duration, Instant};
use tactus_trace::Trace;

/// The sequences of one run.
pub struct Steps {
    /// Each core's dispatches and completions. A job that goes on after nothing else ran is one step.
    cores: Vec<Vec<Step>>,
    /// When the run ended.
    end: Instant,
}

impl Steps {
    /// Reads them from a trace.
    pub fn of(trace: &Trace) -> Steps {
        let cores = trace.cores.iter().map(|records| {
            let wanted = records.iter().filter(|r| matches!(r.kind, Kind::Dispatch | Kind::Complete));
            let mut steps: Vec<Step> = wanted
                .filter_map(|r| {
                    Some(Step { time: r.time, task: r.task?, job: r.job, finished: r.kind == Kind::Complete })
                })
                .collect();
            steps.dedup_by_key(|s| s.what());
            steps
        });
        let last = trace.cores.iter().flatten().map(|r| r.time).max().unwrap_or(Instant::ZERO);
        Steps { cores: cores.collect(), end: last }
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
    add_up(&mut on_core, left, right, equal);
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

/// Leaves only the common steps before `until` in a core's account.
pub fn cut(expected: &Steps, found: &Steps, core: usize, until: Instant, on_core: &mut OnCore) {
    let (left, right) = (expected.on(core), found.on(core));
    let common = on_core.dispatches + on_core.completions;
    let before = left.iter().zip(right).take(common).take_while(|(a, b)| a.time.max(b.time) < until).count();
    let divergence = on_core.divergence;
    *on_core = OnCore { divergence, ..OnCore::default() };
    add_up(on_core, left, right, before);
}

fn add_up(on_core: &mut OnCore, left: &[Step], right: &[Step], n: usize) {
    for (a, b) in left.iter().zip(right).take(n) {
        let apart = a.time.since(b.time).max(b.time.since(a.time));
        let (count, most) = match a.finished {
            false => (&mut on_core.dispatches, &mut on_core.dispatch_difference),
            true => (&mut on_core.completions, &mut on_core.completion_difference),
        };
        *count += 1;
        *most = apart.max(*most);
    }
}

/// The system's own work on a core before `until`.
pub fn overhead(trace: &Trace, core: usize, until: Instant) -> Duration {
    let Some(records) = trace.cores.get(core) else { return Duration::ZERO };
    let mut sum = Duration::ZERO;
    let mut entered = Instant::ZERO;
    for record in records.iter().take_while(|r| r.time < until) {
        match record.kind {
            Kind::Enter => {
                entered = record.time;
                if record.level == EntryReason::Timer as u8 {
                    sum += entered.since(Instant::from_nanos(record.arg));
                }
            }
            Kind::Leave => sum += record.time.since(entered),
            _ => {}
        }
    }
    sum
}
