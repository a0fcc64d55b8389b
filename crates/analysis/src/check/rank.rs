//! Spread and order of a system's root, and how they sort tasks.

use tactus_model::{Migration, Policy, System, TaskOrder};
use tactus_time::CoreSet;

/// How the jobs of one queue are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rank {
    /// By a number that a task keeps.
    Fixed(TaskOrder),
    /// By absolute deadlines.
    Edf,
    /// By something else that changes from job to job.
    Other(TaskOrder),
}

impl Rank {
    /// The rank of an order.
    pub(super) fn of(order: TaskOrder) -> Rank {
        match order {
            TaskOrder::FixedPriority
            | TaskOrder::RateMonotonic
            | TaskOrder::DeadlineMonotonic
            | TaskOrder::ShortestJob => Rank::Fixed(order),
            TaskOrder::EarliestDeadline => Rank::Edf,
            _ => Rank::Other(order),
        }
    }

    /// What people call it.
    pub(super) fn label(self) -> &'static str {
        match self {
            Rank::Edf | Rank::Other(TaskOrder::EarliestDeadline) => "EDF",
            Rank::Fixed(order) | Rank::Other(order) => match order {
                TaskOrder::DeadlineMonotonic => "DM",
                TaskOrder::FixedPriority => "fixed priorities",
                TaskOrder::ShortestJob => "shortest job first",
                TaskOrder::LeastLaxity => "least laxity",
                TaskOrder::LaxityAtRelease => "laxity at release",
                TaskOrder::FirstComeFirstServed => "first come first served",
                TaskOrder::RoundRobin => "turns",
                TaskOrder::FixedPriorityRoundRobin => "fixed priorities, turns among equals",
                _ => "RM",
            },
        }
    }

    /// Sorts the tasks of a queue, the most urgent first; equal ones in the order of the file.
    pub(super) fn sort(self, system: &System, places: &mut [usize]) {
        places.sort_by_key(|&n| (self.key(system, n), n));
    }

    /// Of each of these sorted tasks, how many come before it or take turns with it, itself included. Empty where equal ones do not take
    /// turns.
    pub(super) fn rivals(self, system: &System, places: &[usize]) -> Vec<usize> {
        if self != Rank::Other(TaskOrder::FixedPriorityRoundRobin) {
            return Vec::new();
        }
        let up_to = |&n: &usize| places.iter().filter(|&&other| self.key(system, other) <= self.key(system, n)).count();
        places.iter().map(up_to).collect()
    }

    /// Whether the scheduler is entered once in each quantum.
    pub(super) fn is_timed(self) -> bool {
        matches!(self, Rank::Other(order) if order.has_quantum())
    }

    /// The smaller, the more urgent, as far as a task keeps its rank.
    pub(super) fn key(self, system: &System, n: usize) -> u64 {
        let task = &system.tasks[n];
        match self {
            // The larger number goes first.
            Rank::Fixed(TaskOrder::FixedPriority) | Rank::Other(TaskOrder::FixedPriorityRoundRobin) => {
                u64::MAX - u64::from(system.scheduling.places.get(n).map_or(0, |p| p.priority))
            }
            Rank::Fixed(TaskOrder::DeadlineMonotonic) | Rank::Edf => task.deadline.as_nanos(),
            Rank::Fixed(TaskOrder::ShortestJob) => super::assumed::plain(task).as_nanos(),
            _ => task.period.as_nanos(),
        }
    }
}

/// How the cores of the root share queues, and its order; nothing for policies with levels and for partitions.
pub(super) fn of_policy(policy: &Policy) -> Option<(Migration, TaskOrder)> {
    Some(match policy {
        Policy::PartitionedRm => (Migration::Partitioned, TaskOrder::RateMonotonic),
        Policy::PartitionedEdf => (Migration::Partitioned, TaskOrder::EarliestDeadline),
        Policy::GlobalRm => (Migration::Global, TaskOrder::RateMonotonic),
        Policy::GlobalEdf => (Migration::Global, TaskOrder::EarliestDeadline),
        Policy::Ordered { spread, order } => (*spread, *order),
        Policy::Mc2 { .. } | Policy::Mixed(_) | Policy::Partitions => return None,
    })
}

/// The root's queues: each a set of cores, with the tasks that wait in it, in the order of the file. Tasks in servers are left out.
pub(super) fn queues(system: &System, spread: Migration) -> Vec<(CoreSet, Vec<usize>)> {
    let sets = system.scheduling.queues(None, spread, CoreSet::first(system.cores));
    let place = |n: usize| system.scheduling.places.get(n).copied().unwrap_or_default();
    let inside = |set: &CoreSet, n: usize| {
        place(n).server.is_none() && system.tasks[n].core.is_none_or(|core| set.contains(core))
    };
    sets.into_iter().map(|set| (set, (0..system.tasks.len()).filter(|&n| inside(&set, n)).collect())).collect()
}
