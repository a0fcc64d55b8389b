//! Whether the demands that a file declares keep to what the analysis assumes of them.
//!
//! A bound at level ℓ holds while nobody who can disturb the task takes longer than assumed at ℓ. A system file may
//! declare demands that do, on purpose. Then the analysis stands, but the run owes nothing to the tasks concerned.

use super::assumed::{assumed, id};
use super::report::Check;
use tactus_model::{Demand, Migration, Policy, System, Task};
use tactus_time::{Duration, Level};

/// Sets `exceeded_by` of every task.
pub(crate) fn note(system: &System, check: &mut Check) {
    let most: Vec<Duration> = system.tasks.iter().map(|t| longest(&t.demand)).collect();
    for (n, task) in system.tasks.iter().enumerate() {
        let level = task.level.unwrap_or(Level::A);
        let culprit = system.tasks.iter().enumerate().position(|(i, other)| {
            most[i] > assumed(other, level) && other.level != Some(Level::D) && disturbs(system, (i, other), (n, task))
        });
        check.tasks[n].exceeded_by = culprit.map(id);
    }
}

/// The longest time that a job may really take.
fn longest(demand: &Demand) -> Duration {
    match demand {
        Demand::Fixed(d) => *d,
        Demand::Uniform { max, .. } => *max,
        Demand::Beta { usual, scale, .. } => *usual.max(scale),
        Demand::List(all) => all.iter().copied().max().unwrap_or(Duration::ZERO),
    }
}

/// Whether an overrun of `other` can break the bound of `task`.
pub(crate) fn disturbs(system: &System, (i, other): (usize, &Task), (n, task): (usize, &Task)) -> bool {
    if i == n {
        return true;
    }
    match system.policy {
        Policy::PartitionedRm => other.core == task.core && (other.period, i) < (task.period, n),
        Policy::PartitionedEdf => other.core == task.core,
        // Budgets end what goes beyond a task's own level; but where a critical job takes longer than at B, level B is given up.
        Policy::Mixed(_) => task.level == Some(Level::B) && other.level == Some(Level::A) && other.core == task.core,
        // What is in another partition has its own windows.
        Policy::Partitions => {
            system.partition_of(i) == system.partition_of(n) && (other.core.is_none() || other.core == task.core)
        }
        Policy::GlobalRm => (other.period, i) < (task.period, n),
        Policy::GlobalEdf => true,
        // Whoever is in a server around the task, or beside it, by whatever order; what is in another server has its budget.
        Policy::Ordered { .. } if !system.scheduling.servers.is_empty() => {
            let home = system.home(i);
            let around = home.is_none() || system.around(n).any(|s| Some(s) == home);
            if !around {
                return false;
            }
            other.core.is_none() || task.core.is_none() || other.core == task.core
        }
        // Whoever shares the core, by whatever order; where cores share queues, everybody.
        Policy::Ordered { spread, .. } => spread != Migration::Partitioned || other.core == task.core,
        Policy::Mc2 { enforce, .. } => match (task.level, other.level) {
            // A table isolates its tasks from each other.
            (Some(Level::A), _) | (Some(Level::D) | None, _) => false,
            (Some(Level::B), Some(Level::A)) => other.core == task.core,
            // Enforced budgets isolate the tasks of one level from each other.
            (Some(Level::B), Some(Level::B)) => !enforce && other.core == task.core,
            (Some(Level::C), Some(Level::A | Level::B)) => true,
            (Some(Level::C), Some(Level::C)) => !enforce,
            (Some(Level::B), Some(Level::C | Level::D) | None) | (Some(Level::C), Some(Level::D) | None) => false,
        },
    }
}
