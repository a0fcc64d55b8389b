//! Changes of the running system, as they are kept.

use super::StoredPromise;
use serde::{Deserialize, Serialize};
use tactus_time::{CoreId, Duration};
use tactus_trace::{ChangeView, Changes, Now};

#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    start: Vec<Task>,
    list: Vec<Change>,
    #[serde(default)]
    together: bool,
}

#[derive(Serialize, Deserialize)]
struct Change {
    what: String,
    core: u8,
    at_ns: u64,
    refused: Option<String>,
    tasks: Vec<Task>,
}

#[derive(Serialize, Deserialize)]
struct Task {
    there: bool,
    period_ns: u64,
    deadline_ns: u64,
    promise: StoredPromise,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget_ns: Option<u64>,
}

pub(super) fn store(changes: &Changes) -> Stored {
    let list = changes.list.iter().map(|change| Change {
        what: change.what.clone(),
        core: change.core.0,
        at_ns: change.at.as_nanos(),
        refused: change.refused.clone(),
        tasks: change.tasks.iter().map(task).collect(),
    });
    let start = changes.start.iter().map(task).collect();
    Stored { start, list: list.collect(), together: changes.together }
}

fn task(now: &Now) -> Task {
    let (period_ns, deadline_ns) = (now.period.as_nanos(), now.deadline.as_nanos());
    let budget_ns = now.budget.map(Duration::as_nanos);
    Task { there: now.there, period_ns, deadline_ns, promise: StoredPromise::of(now.promise), budget_ns }
}

/// What was kept for so many tasks and cores.
pub(super) fn restore(stored: Stored, tasks: usize, cores: usize) -> Result<Changes, String> {
    let of_tasks = |all: Vec<Task>| match all.len() == tasks && all.iter().all(|task| task.period_ns > 0) {
        true => Ok(all.into_iter().map(now).collect()),
        false => Err("a change does not tell of each task, or of a period of no length".to_string()),
    };
    let one = |change: Change| {
        if usize::from(change.core) >= cores {
            return Err(format!("{}: there is no core {}", change.what, change.core));
        }
        Ok(ChangeView {
            what: change.what,
            core: CoreId(change.core),
            at: Duration::from_nanos(change.at_ns),
            refused: change.refused,
            tasks: of_tasks(change.tasks)?,
        })
    };
    let list = stored.list.into_iter().map(one).collect::<Result<_, _>>()?;
    Ok(Changes { start: of_tasks(stored.start)?, list, together: stored.together })
}

fn now(task: Task) -> Now {
    let (period, deadline) = (Duration::from_nanos(task.period_ns), Duration::from_nanos(task.deadline_ns));
    let budget = task.budget_ns.map(Duration::from_nanos);
    Now { there: task.there, period, deadline, promise: task.promise.promise(), budget }
}
