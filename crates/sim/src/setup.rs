//! From a system file to a policy's set-up: the one place where that step is taken.

use tactus_model::{Policy, System};
use tactus_policy::{Kind, Mc2, Setup, Table, Task};
use tactus_time::{Duration, Level};

/// What the policy of `system` is made from.
///
/// `tables` are the level-A tables in core order, which MC² needs; other policies leave them unused. `allowances` are
/// what each task's enforced budget has on top for the system's work on its jobs' behalf, by `TaskId`; a task that they
/// do not reach to has none, so that there may be none at all on a machine without costs.
///
/// A task's budget is its execution time as assumed at its own level, and its allowance where budgets are enforced. A
/// task of level D has none, whatever the file says, since nothing at that level is held to one.
pub fn setup(system: &System, tables: Vec<Table>, allowances: &[Duration]) -> Setup {
    let enforced = matches!(system.policy, Policy::Mc2 { enforce: true, .. });
    let kind = match system.policy {
        Policy::PartitionedRm => Kind::PartitionedRm,
        Policy::PartitionedEdf => Kind::PartitionedEdf,
        Policy::GlobalRm => Kind::GlobalRm,
        Policy::GlobalEdf => Kind::GlobalEdf,
        Policy::Mc2 { enforce, slack_shifting } => {
            Kind::Mc2(Mc2 { enforce, slack_shifting, allowance: Duration::ZERO, tables })
        }
    };
    let tasks = system.tasks.iter().enumerate().map(|(n, task)| {
        let allowance = allowances.get(n).copied().filter(|_| enforced).unwrap_or(Duration::ZERO);
        let level = task.level.unwrap_or(Level::A);
        let budget = match level {
            Level::D => Duration::ZERO,
            _ => {
                let own = task.execution[level.index()].unwrap_or(Duration::ZERO);
                own.checked_add(allowance).unwrap_or(Duration::MAX)
            }
        };
        let (core, offset, period, deadline) = (task.core, task.offset, task.period, task.deadline);
        Task { level, core, offset, period, deadline, budget }
    });
    Setup { cores: system.cores, kind, tasks: tasks.collect() }
}
