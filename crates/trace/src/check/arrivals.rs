//! Releases of tasks that time does not release, held against what arrived.

use super::{Rule, Violation};
use crate::schedule::run_end;
use crate::{Trace, View};
use std::collections::HashMap;
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{EarlyArrival, Release, ReleaseGuard};
use tactus_time::{Duration, Instant, TaskId};

/// How long a core may take to notice an arrival.
const PATIENCE: Duration = Duration::from_millis(1);

/// Each arrival that was not lost has a job, in its order: released when it came, or as soon as its task's arrivals may come where that is
/// later (a period after the release before it, or as its burst says). None comes earlier where that is a fault. What arrives for a task that another one releases are completions of that one's jobs.
/// Nothing has a job that is due when the task's component has been stopped for good.
pub(super) fn of_view(view: &View, trace: &Trace) -> Vec<Violation> {
    let mut found = Vec::new();
    if view.tasks.iter().all(|task| task.releases == Release::Periodic) {
        return found;
    }
    let mut releases: HashMap<TaskId, Vec<Record>> = HashMap::new();
    // When something arrived for each task, and how often that was lost.
    let mut arrived: HashMap<TaskId, Vec<Instant>> = HashMap::new();
    let mut lost: HashMap<TaskId, Vec<u32>> = HashMap::new();
    let mut removed: HashMap<TaskId, Instant> = HashMap::new();
    for r in trace.cores.iter().flatten() {
        let Some(task) = r.task else { continue };
        match r.kind {
            EventKind::Release => releases.entry(task).or_default().push(*r),
            EventKind::ArrivalLost => lost.entry(task).or_default().push(r.job),
            EventKind::Removed => {
                let first = removed.entry(task).or_insert(r.time);
                *first = r.time.min(*first);
            }
            EventKind::ArrivalEarly => found.push(early(view, r, task)),
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
        let mut guard = ReleaseGuard::new(distance, task.releases.burst());
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
            if release < guard.nominal(Instant::ZERO) {
                violation(format!("released at {release}, earlier than arrivals of its task may come"));
            }
            if r.time < release {
                violation(format!("noticed at {} before it was released at {release}", r.time));
            }
            // Where some are lost, it is not told which.
            let own = match early {
                EarlyArrival::Delay | EarlyArrival::Fault if lost.is_empty() => arrived.next(),
                _ => arrived.by_ref().find(|at| guard.nominal(*at) == release),
            };
            match own {
                None => violation("nothing arrived that could have released it".into()),
                Some(at) if guard.nominal(at) != release => {
                    let due = guard.nominal(at);
                    violation(format!("released at {release}, though what arrived at {at} was to release it at {due}"));
                }
                Some(_) => {}
            }
            guard.release(release);
        }
        let waiting = arrived.next().map(|at| guard.nominal(at)).filter(|_| lost.is_empty());
        let end = removed.get(&id).map_or(end, |removed| end.min(*removed));
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

/// Something arrived that was declared not to.
fn early(view: &View, r: &Record, task: TaskId) -> Violation {
    let period = view.tasks.get(task.index()).map_or(Duration::ZERO, |task| task.period);
    Violation {
        rule: Rule::Early,
        time: r.time,
        core: r.core,
        task: Some(task),
        job: None,
        text: format!("something arrived earlier than it may: its least distance is {period}"),
    }
}
