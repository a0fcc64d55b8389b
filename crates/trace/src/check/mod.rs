//! Rules that hold in every run, whatever was promised: each check goes through a trace and returns what breaks one.
//!
//! They are written from the meaning of the records, apart from the policies that write them, so that a mistake
//! there is not repeated here.

mod arrivals;
mod ceilings;
mod events;
mod exclusion;
mod holders;
mod levels;
mod modes;
mod overruns;
mod rule;
mod sequence;
mod servers;
mod services;
mod slots;
mod table;
mod tree;
mod waits;
mod windows;
mod yielding;

pub use crate::changes::changes;
pub use crate::view::{CeilingView, InTree, Rank, ResourceView, ServerView, TreeChange, TreeView};
pub use events::no_events;
pub use levels::level_order;
pub use modes::modes;
pub use rule::{Rule, Violation};
pub use sequence::sequence;
pub use servers::{misses, replenishment, reservation, servers, supply, waiting};
pub use services::services;
pub use slots::slots;
pub use table::{table_order, TableView};
pub use windows::windows;

use crate::changes::History;
use crate::schedule::{last_look, schedule_with, Boundary};
use crate::{extend, run_end, schedule, Segment, SegmentKind, Trace, View};
use exclusion::Wrong;
use std::collections::HashMap;
use tactus_record::{EntryReason, EventKind};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

/// All checks that need no more than the view; what they found, by time. [`table_order`] is apart.
///
/// `tolerance`: how long it may take until a core acts upon what it should, see [`budget`] and [`level_order`].
pub fn all(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = known(view, trace);
    found.extend(whole(view, trace));
    found.extend(monotone(trace));
    found.extend(one_core(trace));
    found.extend(sequence(trace));
    if view.changes.is_none() {
        found.extend(periodic(view, trace));
        found.extend(arrivals::of_view(view, trace));
    }
    found.extend(budget(view, trace, tolerance));
    found.extend(level_order(view, trace, tolerance));
    found.extend(modes(view, trace));
    found.extend(changes(view, trace));
    if let Some(tree) = &view.tree {
        found.extend(servers(tree, trace, tolerance));
        found.extend(overruns::of_tree(tree, trace, tolerance));
    }
    found.extend(events::of_view(view, trace));
    found.extend(windows(view, trace, tolerance));
    found.extend(waits::of_view(view, trace));
    found.extend(services(view, trace));
    found.extend(slots(view, trace));
    if let Some(ceilings) = view.tree.as_ref().and_then(|tree| tree.ceilings.as_ref()) {
        let wrong = exclusion::of_trace(ceilings, trace, tolerance).into_iter();
        found.extend(wrong.map(|Wrong { time, core, task, job, text }| {
            let rule = Rule::Exclusion;
            Violation { rule, time, core, task, job, text }
        }));
    }
    found.sort_by_key(|v| v.time);
    found
}

/// Records name only tasks that the view has, and the view has as many cores as the trace.
pub fn known(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    if trace.cores.len() != view.cores {
        let text = format!("the trace has {} cores, the system {}", trace.cores.len(), view.cores);
        found.push(Violation { rule: Rule::Known, time: Instant::ZERO, core: CoreId(0), task: None, job: None, text });
    }
    for r in trace.cores.iter().flatten() {
        if let Some(task) = r.task.filter(|t| t.index() >= view.tasks.len()) {
            found.push(Violation {
                rule: Rule::Known,
                time: r.time,
                core: r.core,
                task: Some(task),
                job: Some(r.job),
                text: format!("a record names task {}, the system has {}", task.0, view.tasks.len()),
            });
        }
    }
    found
}

/// Every core says that its run ended, no earlier than it should.
pub fn whole(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    for (core, records) in trace.cores.iter().enumerate() {
        let ended = records.iter().rev().find(|r| r.kind == EventKind::End).map(|r| r.time);
        let last = records.last().map_or(Instant::ZERO, |r| r.time);
        let text = match ended {
            Some(time) if time.since(Instant::ZERO) >= view.duration => continue,
            Some(time) => format!("the run of {} ended at {time}", view.duration),
            None => format!("the records stop at {last}; the run should have lasted {}", view.duration),
        };
        let core = CoreId(core as u8);
        found.push(Violation { rule: Rule::Whole, time: ended.unwrap_or(last), core, task: None, job: None, text });
    }
    found
}

/// Times never go back on one core.
pub fn monotone(trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    for records in &trace.cores {
        for pair in records.windows(2) {
            if pair[1].time < pair[0].time {
                found.push(Violation {
                    rule: Rule::Monotone,
                    time: pair[1].time,
                    core: pair[1].core,
                    task: pair[1].task,
                    job: None,
                    text: format!("a record of {} follows one of {}", pair[1].time, pair[0].time),
                });
            }
        }
    }
    found
}

/// No job is on two cores at once, by the stretches of time between `Leave` and `Enter`.
pub fn one_core(trace: &Trace) -> Vec<Violation> {
    let mut runs: Vec<Segment> = schedule(trace).into_iter().filter(|s| s.kind == SegmentKind::Run).collect();
    runs.sort_by_key(|s| (s.task, s.job, s.start));
    let mut found = Vec::new();
    let mut latest: Option<Segment> = None;
    for run in runs {
        match latest {
            Some(l) if (l.task, l.job) == (run.task, run.job) => {
                if run.start < l.end && run.core != l.core {
                    found.push(Violation {
                        rule: Rule::OneCore,
                        time: run.start,
                        core: run.core,
                        task: run.task,
                        job: Some(run.job),
                        text: format!(
                            "runs on core {} from {} while it is on core {} until {}",
                            run.core, run.start, l.core, l.end
                        ),
                    });
                }
                if run.end > l.end {
                    latest = Some(run);
                }
            }
            _ => latest = Some(run),
        }
    }
    found
}

/// Job `k` of a periodic task is released at offset plus `k` periods, or later by its jitter at most and not before the job before it; it is
/// noticed no earlier, and none is left out. A task whose jobs are all done and that was not removed has the next release before the end of
/// the run, within a period and its jitter.
pub fn periodic(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut releases = vec![Vec::new(); view.tasks.len()];
    let mut completed = vec![0usize; view.tasks.len()];
    let mut removed = vec![false; view.tasks.len()];
    for r in trace.cores.iter().flatten() {
        let Some(task) = r.task.map(TaskId::index).filter(|t| *t < view.tasks.len()) else { continue };
        match r.kind {
            EventKind::Release => releases[task].push(*r),
            EventKind::Complete => completed[task] += 1,
            EventKind::Removed => removed[task] = true,
            _ => {}
        }
    }
    let end = run_end(trace);
    for (i, (task, releases)) in view.tasks.iter().zip(&mut releases).enumerate() {
        if !task.releases.is_timed() {
            continue;
        }
        let jitter = task.releases.jitter().unwrap_or_default();
        let mut before = Instant::ZERO;
        releases.sort_by_key(|r| r.job);
        let mut violation = |time, core, job, text| {
            found.push(Violation {
                rule: Rule::Periodic,
                time,
                core,
                task: Some(TaskId(i as u16)),
                job: Some(job),
                text,
            });
        };
        let nominal = |job: u32| {
            let after = u64::from(job).saturating_mul(task.period.as_nanos());
            Instant::ZERO.saturating_add(task.offset).saturating_add(Duration::from_nanos(after))
        };
        for (expected, r) in releases.iter().enumerate() {
            let expected = expected as u32;
            if r.job != expected {
                let text = format!("job {} comes where job {expected} should", r.job);
                violation(r.time, r.core, r.job, text);
                break;
            }
            let released = Instant::from_nanos(r.arg);
            let (first, last) = (nominal(r.job).max(before), nominal(r.job).saturating_add(jitter));
            if released < first || released > last {
                let until = if jitter.is_zero() { String::new() } else { format!(" to {last}") };
                violation(r.time, r.core, r.job, format!("released at {released}, due at {first}{until}"));
            } else if r.time < released {
                let text = format!("noticed at {} before it was due at {released}", r.time);
                violation(r.time, r.core, r.job, text);
            }
            before = released;
        }
        let next = releases.len() as u32;
        let latest = nominal(next).saturating_add(task.period).saturating_add(jitter);
        let per_server = view.tree.as_ref().filter(|tree| tree.per_server);
        let looked = match per_server {
            Some(tree) => tree.last_look(trace, TaskId(i as u16)),
            None if task.level.is_some_and(|level| level > Level::A) => last_look(view, trace, task.core),
            None => end,
        };
        if !removed[i] && completed[i] == releases.len() && latest <= looked {
            let core = task.core.unwrap_or_default();
            violation(nominal(next), core, next, format!("was due at {} and never released", nominal(next)));
        }
    }
    found
}

/// Between two replenishments a task that has a budget runs and haunts no longer than that, plus `tolerance`: how
/// much later than at once a used-up budget may be noticed. Tasks without any `Replenish` record are judged by their
/// nominal periods.
pub fn budget(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut starts: HashMap<TaskId, Vec<Instant>> = HashMap::new();
    for r in trace.cores.iter().flatten().filter(|r| r.kind == EventKind::Replenish) {
        if let Some(task) = r.task {
            starts.entry(task).or_default().push(r.time);
        }
    }
    starts.values_mut().for_each(|times| times.sort_unstable());
    // A stretch that a slot of level A ends is charged until that slot begins, however late the core notices: each time anew.
    let timers = trace.cores.iter().flatten().filter(|r| {
        r.kind == EventKind::Enter && EntryReason::from_u8(r.level) == Some(EntryReason::Timer) && r.arg != u64::MAX
    });
    let set_for: HashMap<(CoreId, Instant), Instant> =
        timers.map(|r| ((r.core, r.time), Instant::from_nanos(r.arg))).collect();
    let mut used: HashMap<(TaskId, u64), (Duration, Segment)> = HashMap::new();
    for s in schedule_with(trace, Boundary::Decision) {
        let Some((id, task)) = s.task.and_then(|id| Some((id, view.tasks.get(id.index())?))) else { continue };
        if task.budget.is_none() || task.period.is_zero() {
            continue;
        }
        // The window that an instant lies in, and where the window ends.
        let window = |at: Instant| match starts.get(&id) {
            Some(times) => {
                let n = times.partition_point(|t| *t <= at);
                // The last one has no end: in a damaged trace stretches may be longer than the run.
                (n as u64, times.get(n).copied().unwrap_or(Instant::NEVER))
            }
            None => {
                let n = at.since(Instant::ZERO).saturating_sub(task.offset) / task.period;
                let length = n.checked_add(1).and_then(|n| task.period.checked_mul(n)).unwrap_or(Duration::MAX);
                (n, Instant::ZERO.saturating_add(task.offset).saturating_add(length))
            }
        };
        let mut at = s.start;
        let end = set_for.get(&(s.core, s.end)).map_or(s.end, |due| (*due).clamp(s.start, s.end));
        while at < end {
            let (number, until) = window(at);
            // One whole period in a long stretch tells as much as all of them.
            let whole = until.since(at) == task.period && until < end;
            let until = until.min(end).max(at.saturating_add(Duration::from_nanos(1)));
            let entry = used.entry((id, number)).or_insert((Duration::ZERO, s));
            extend(&mut entry.0, until.since(at));
            entry.1 = s;
            at = if whole { until.max(Instant::from_nanos(end.as_nanos() - task.period.as_nanos())) } else { until };
        }
    }
    let history = History::of(view, trace);
    let mut found: Vec<Violation> = used
        .into_iter()
        .filter_map(|((id, number), (used, last))| {
            // The one that it was given.
            let given = starts.get(&id).and_then(|times| times.get((number as usize).checked_sub(1)?));
            let budget = history.budget(view, id, given.copied().unwrap_or(Instant::ZERO))?;
            (used.saturating_sub(budget) > tolerance).then(|| Violation {
                rule: Rule::Budget,
                time: last.end,
                core: last.core,
                task: Some(id),
                job: Some(last.job),
                text: format!("had {used} of a budget of {budget}"),
            })
        })
        .collect();
    found.sort_by_key(|v| (v.time, v.task));
    found
}
