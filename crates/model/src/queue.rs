//! The queues of a system: in which one a task waits, whose cores share it, and how it is ordered.

use crate::{Migration, Policy, System};
use tactus_task::TaskOrder;
use tactus_time::CoreSet;

impl Policy {
    /// How the root's cores share queues, and its order; nothing for policies with levels and for partitions.
    pub const fn root(&self) -> Option<(Migration, TaskOrder)> {
        Some(match self {
            Policy::PartitionedRm => (Migration::Partitioned, TaskOrder::RateMonotonic),
            Policy::PartitionedEdf => (Migration::Partitioned, TaskOrder::EarliestDeadline),
            Policy::GlobalRm => (Migration::Global, TaskOrder::RateMonotonic),
            Policy::GlobalEdf => (Migration::Global, TaskOrder::EarliestDeadline),
            Policy::Ordered { spread, order } => (*spread, *order),
            Policy::Mc2 { .. } | Policy::Mixed(_) | Policy::Partitions => return None,
        })
    }
}

impl System {
    /// The server that a task is in, by its place in [`Scheduling::servers`](crate::Scheduling::servers); nothing for the root.
    pub fn home(&self, task: usize) -> Option<usize> {
        self.scheduling.places.get(task).and_then(|place| place.server)
    }

    /// The cores on which a task may run: those of its queue.
    pub fn queue_of(&self, task: usize) -> CoreSet {
        let all = CoreSet::first(self.cores);
        let core = self.tasks[task].core;
        let spread = match (self.home(task), self.policy.root()) {
            (Some(_), root) => root.map_or(Migration::Partitioned, |(spread, _)| spread),
            (None, Some((spread, _))) => spread,
            // By its level it is bound to a core, or it is not.
            (None, None) => return core.map_or(all, |core| CoreSet::from_bits(1 << core.0)),
        };
        let server = self.home(task).map(|server| &self.scheduling.servers[server]);
        let queues = self.scheduling.queues(server, spread, all);
        queues.into_iter().find(|queue| core.is_none_or(|core| queue.contains(core))).unwrap_or(CoreSet::EMPTY)
    }

    /// How the queue of a task is ordered, where tasks have no levels.
    pub fn order_of_queue(&self, task: usize) -> Option<TaskOrder> {
        match self.home(task) {
            Some(server) => Some(self.scheduling.servers[server].order),
            None => self.policy.root().map(|(_, order)| order),
        }
    }

    /// The servers around a task, the innermost first.
    pub fn around(&self, task: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.home(task), |server| self.scheduling.servers[*server].parent)
    }
}
