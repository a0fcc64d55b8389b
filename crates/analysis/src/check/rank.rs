//! Which order a core follows, where the check has a test for it.

use tactus_model::{Policy, Spread, System, TaskOrder};

/// How the jobs of one core are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rank {
    /// By a number that a task keeps.
    Fixed(TaskOrder),
    /// By absolute deadlines.
    Edf,
}

impl Rank {
    /// The order of every core by itself; none where cores share queues, tasks are in servers, or no test is known.
    pub(super) fn of(system: &System) -> Option<Rank> {
        match system.policy {
            Policy::PartitionedRm => Some(Rank::Fixed(TaskOrder::RateMonotonic)),
            Policy::PartitionedEdf => Some(Rank::Edf),
            Policy::Ordered { spread: Spread::Partitioned, order } if system.scheduling.servers.is_empty() => {
                match order {
                    TaskOrder::FixedPriority | TaskOrder::RateMonotonic | TaskOrder::DeadlineMonotonic => {
                        Some(Rank::Fixed(order))
                    }
                    TaskOrder::EarliestDeadline => Some(Rank::Edf),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What people call it.
    pub(super) fn label(self) -> &'static str {
        match self {
            Rank::Fixed(TaskOrder::DeadlineMonotonic) => "DM",
            Rank::Fixed(TaskOrder::FixedPriority) => "fixed priorities",
            Rank::Fixed(_) => "RM",
            Rank::Edf => "EDF",
        }
    }

    /// Sorts the tasks of a core, the most urgent first; equal ones in the order of the file.
    pub(super) fn sort(self, system: &System, places: &mut [usize]) {
        let key = |n: usize| match self {
            Rank::Fixed(TaskOrder::FixedPriority) => {
                // The larger number goes first.
                u64::MAX - u64::from(system.scheduling.places.get(n).map_or(0, |p| p.priority))
            }
            Rank::Fixed(TaskOrder::DeadlineMonotonic) => system.tasks[n].deadline.as_nanos(),
            _ => system.tasks[n].period.as_nanos(),
        };
        places.sort_by_key(|&n| (key(n), n));
    }
}
