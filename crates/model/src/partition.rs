//! What a system has because of its partitions.

use crate::{Body, System};

impl System {
    /// The partition of a task, by its index in [`Partitions::list`](crate::Partitions::list).
    pub fn partition_of(&self, task: usize) -> Option<usize> {
        let server = self.scheduling.places.get(task)?.server?;
        (server < self.scheduling.partitions.list.len()).then_some(server)
    }

    /// Whether the task may be a process of ARINC 653, which has a deadline of its own: it is one of a partition, with a program of the
    /// user's. A root scheduler of the user's knows no such deadlines.
    pub fn may_be_process(&self, task: usize) -> bool {
        let own = self.tasks.get(task).is_some_and(|task| task.body != Body::Workload);
        own && self.partition_of(task).is_some() && self.platform.root.is_none()
    }
}
