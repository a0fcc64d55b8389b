//! Changes of the running system, as they are kept.

use serde::{Deserialize, Serialize};
use tactus_task::Bound;
use tactus_time::{CoreId, Duration, TaskId};
use tactus_trace::written_promise;
use tactus_trace::{Action, ChangeView, Changes, Now, Target};

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
    target: StoredTarget,
    action: StoredAction,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    budgets: Vec<Budget>,
    #[serde(with = "written_promise::each")]
    promises: Vec<Option<Bound>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredTarget {
    Task(u16),
    Server(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAction {
    Begins,
    Ends,
    Alters { period_ns: Option<u64>, deadline_ns: Option<u64> },
}

#[derive(Serialize, Deserialize)]
struct Budget {
    task: u16,
    budget_ns: u64,
}

#[derive(Serialize, Deserialize)]
struct Task {
    there: bool,
    period_ns: u64,
    deadline_ns: u64,
    #[serde(with = "written_promise")]
    promise: Option<Bound>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget_ns: Option<u64>,
}

pub(super) fn store(changes: &Changes) -> Stored {
    let list = changes.list.iter().map(|change| Change {
        what: change.what.clone(),
        core: change.core.0,
        at_ns: change.at.as_nanos(),
        refused: change.refused.clone(),
        target: match change.target {
            Target::Task(task) => StoredTarget::Task(task.0),
            Target::Server(server) => StoredTarget::Server(server),
        },
        action: match change.action {
            Action::Begins => StoredAction::Begins,
            Action::Ends => StoredAction::Ends,
            Action::Alters { period, deadline } => {
                let [period_ns, deadline_ns] = [period, deadline].map(|length| length.map(Duration::as_nanos));
                StoredAction::Alters { period_ns, deadline_ns }
            }
        },
        budgets: change.budgets.iter().map(|(task, it)| Budget { task: task.0, budget_ns: it.as_nanos() }).collect(),
        promises: change.promises.clone(),
    });
    let start = changes.start.iter().map(task).collect();
    Stored { start, list: list.collect(), together: changes.together }
}

fn task(now: &Now) -> Task {
    let (period_ns, deadline_ns) = (now.period.as_nanos(), now.deadline.as_nanos());
    let budget_ns = now.budget.map(Duration::as_nanos);
    Task { there: now.there, period_ns, deadline_ns, promise: now.promise, budget_ns }
}

/// What was kept for so many tasks and cores.
pub(super) fn restore(stored: Stored, tasks: usize, cores: usize) -> Result<Changes, String> {
    let little = |what: &str| format!("{what} does not tell of each task, or of a period of no length");
    if stored.start.len() != tasks || stored.start.iter().any(|task| task.period_ns == 0) {
        return Err(little("the start"));
    }
    let one = |change: Change| {
        if usize::from(change.core) >= cores {
            return Err(format!("{}: there is no core {}", change.what, change.core));
        }
        let no_length = matches!(change.action, StoredAction::Alters { period_ns: Some(0), .. });
        if change.promises.len() != tasks || no_length {
            return Err(little(&change.what));
        }
        Ok(ChangeView {
            what: change.what,
            core: CoreId(change.core),
            at: Duration::from_nanos(change.at_ns),
            refused: change.refused,
            target: match change.target {
                StoredTarget::Task(task) => Target::Task(TaskId(task)),
                StoredTarget::Server(server) => Target::Server(server),
            },
            action: match change.action {
                StoredAction::Begins => Action::Begins,
                StoredAction::Ends => Action::Ends,
                StoredAction::Alters { period_ns, deadline_ns } => {
                    let [period, deadline] = [period_ns, deadline_ns].map(|ns| ns.map(Duration::from_nanos));
                    Action::Alters { period, deadline }
                }
            },
            budgets: change.budgets.iter().map(|it| (TaskId(it.task), Duration::from_nanos(it.budget_ns))).collect(),
            promises: change.promises,
        })
    };
    let list = stored.list.into_iter().map(one).collect::<Result<_, _>>()?;
    Ok(Changes { start: stored.start.into_iter().map(now).collect(), list, together: stored.together })
}

fn now(task: Task) -> Now {
    let (period, deadline) = (Duration::from_nanos(task.period_ns), Duration::from_nanos(task.deadline_ns));
    let budget = task.budget_ns.map(Duration::from_nanos);
    Now { there: task.there, period, deadline, promise: task.promise, budget, execution: None }
}
