//! Releases of tasks that time does not release, held against what arrived.

use super::{Rule, Violation};
use crate::schedule::run_end;
use crate::{Trace, View};
use std::collections::HashMap;
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{EarlyArrival, Release};
use tactus_time::{Duration, Instant, TaskId};

/// How long a core may take to notice an arrival.
const PATIENCE: Duration = Duration::from_millis(1);

/// Each arrival that was not lost has a job, in its order: released when it came, or a period after the release before it where
/// that is later. What arrives for a task that another one releases are completions of that one's jobs.
pub(super) fn of_view(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    if view.tasks.iter().all(|task| task.releases == Release::Periodic) {
        return found;
    }
    let mut releases: HashMap<TaskId, Vec<Record>> = HashMap::new();
    // When something arrived for each task, and how often that was lost.
    let mut arrived: HashMap<TaskId, Vec<Instant>> = HashMap::new();
    let mut lost: HashMap<TaskId, Vec<u32>> = HashMap::new();
    for r in trace.cores.iter().flatten() {
        let Some(task) = r.task else { continue };
        match r.kind {
            EventKind::Release => releases.entry(task).or_default().push(*r),
            EventKind::ArrivalLost => lost.entry(task).or_default().push(r.job),
            EventKind::Input if r.level == InputKind::Arrival as u8 => {
                arrived.entry(task).or_default().push(Instant::from_nanos(r.arg));
            }
            EventKind::Complete => {
                for (n, other) in view.tasks.iter().enumerate() {
                    if other.releases.predecessor() == Some(task) {
                        arrived.entry(TaskId(n as u16)).or_default().push(r.time);
                    }
                }
            }
            _ => {}
        }
    }
    let end = run_end(trace);
    for (n, task) in view.tasks.iter().enumerate() {
        let id = TaskId(n as u16);
        let Some(early) = task.releases.early() else { continue };
        let mut releases = releases.remove(&id).unwrap_or_default();
        releases.sort_by_key(|r| r.job);
        let mut arrived = arrived.remove(&id).unwrap_or_default();
        // A task that releases itself begins at its offset, and keeps no distance.
        let itself = task.releases.predecessor() == Some(id);
        let distance = if itself { Duration::ZERO } else { task.period };
        arrived.extend(itself.then(|| Instant::ZERO.saturating_add(task.offset)));
        arrived.sort_unstable();
        let lost: Vec<u32> = lost.remove(&id).unwrap_or_default();
        let mut arrived = arrived.into_iter();
        let mut last: Option<Instant> = None;
        for (expected, r) in releases.iter().enumerate() {
            let mut violation = |text: String| {
                found.push(Violation {
                    rule: Rule::Arrival,
                    time: r.time,
                    core: r.core,
                    task: Some(id),
                    job: Some(r.job),
                    text,
                });
            };
            let release = Instant::from_nanos(r.arg);
            if r.job != expected as u32 {
                violation(format!("job {} comes where job {expected} should", r.job));
                break;
            }
            let earliest = last.map(|last| last.saturating_add(distance));
            if earliest.is_some_and(|earliest| release < earliest) {
                violation(format!("released at {release}, less than a period after the release before it"));
            }
            if r.time < release {
                violation(format!("noticed at {} before it was released at {release}", r.time));
            }
            // Where some are lost, it is not told which.
            let own = match early {
                EarlyArrival::Delay if lost.is_empty() => arrived.next(),
                _ => arrived.by_ref().find(|at| nominal(*at, earliest) == release),
            };
            match own {
                None => violation("nothing arrived that could have released it".into()),
                Some(at) if nominal(at, earliest) != release => {
                    let due = nominal(at, earliest);
                    violation(format!("released at {release}, though what arrived at {at} was to release it at {due}"));
                }
                Some(_) => {}
            }
            last = Some(release);
        }
        let earliest = last.map(|last| last.saturating_add(distance));
        let waiting = arrived.next().map(|at| nominal(at, earliest)).filter(|_| lost.is_empty());
        if let Some(due) = waiting.filter(|due| due.saturating_add(PATIENCE) < end) {
            found.push(Violation {
                rule: Rule::Arrival,
                time: due,
                core: task.core.unwrap_or_default(),
                task: Some(id),
                job: Some(releases.len() as u32),
                text: format!("was due at {due} and never released"),
            });
        }
    }
    found
}

/// When what arrived at `at` releases its job.
fn nominal(at: Instant, earliest: Option<Instant>) -> Instant {
    earliest.map_or(at, |earliest| at.max(earliest))
}
