//! Spread and order of a system's root, and how they sort tasks.

use tactus_model::{KeptNumber, Migration, OrderBasis, System, TaskOrder};
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
        match order.basis() {
            OrderBasis::Kept(_) => Rank::Fixed(order),
            OrderBasis::Deadline => Rank::Edf,
            OrderBasis::Laxity
            | OrderBasis::LaxityAtRelease
            | OrderBasis::Release
            | OrderBasis::Turns
            | OrderBasis::PrioritiesWithTurns => Rank::Other(order),
        }
    }

    /// What people call it.
    pub(super) fn label(self) -> &'static str {
        self.order().label()
    }

    /// The order.
    pub(super) fn order(self) -> TaskOrder {
        match self {
            Rank::Edf => TaskOrder::EarliestDeadline,
            Rank::Fixed(order) | Rank::Other(order) => order,
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
        match self.order().basis() {
            // The larger number goes first.
            OrderBasis::Kept(KeptNumber::Priority) | OrderBasis::PrioritiesWithTurns => {
                u64::MAX - u64::from(system.scheduling.places.get(n).map_or(0, |p| p.priority))
            }
            OrderBasis::Kept(KeptNumber::Deadline) | OrderBasis::Deadline => task.deadline.as_nanos(),
            OrderBasis::Kept(KeptNumber::Execution) => super::assumed::plain(task).as_nanos(),
            OrderBasis::Kept(KeptNumber::Slack) => task.deadline.saturating_sub(super::assumed::plain(task)).as_nanos(),
            // The last four by the file: the tests of orders that change do not ask for one.
            OrderBasis::Kept(KeptNumber::Period)
            | OrderBasis::Laxity
            | OrderBasis::LaxityAtRelease
            | OrderBasis::Release
            | OrderBasis::Turns => task.period.as_nanos(),
        }
    }
}

/// The root's queues: each a set of cores, with the tasks that wait in it, in the order of the file. Tasks in servers are left out.
pub(super) fn queues(system: &System, spread: Migration) -> Vec<(CoreSet, Vec<usize>)> {
    let sets = system.scheduling.queues(None, spread, CoreSet::first(system.cores));
    let inside = |set: &CoreSet, n: usize| {
        system.home(n).is_none() && system.tasks[n].core.is_none_or(|core| set.contains(core))
    };
    sets.into_iter().map(|set| (set, (0..system.tasks.len()).filter(|&n| inside(&set, n)).collect())).collect()
}
