//! Chains: tasks of which each releases the next, or tells it something by a channel.

use crate::System;
use tactus_time::{Duration, TaskId};

/// Tasks of which each is released by the completion of the one before, or reads its messages by a channel; and a promise for all of
/// them together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// Name, unique.
    pub name: String,
    /// The tasks by their indices in [`System::tasks`](crate::System::tasks), in their order; two at least.
    pub tasks: Vec<usize>,
    /// The longest time from a release of the first task to the completion of the last one's job that comes of it.
    pub deadline: Duration,
    /// Line of the system file at which the chain begins, for messages.
    pub line: usize,
}

impl System {
    /// Whether the second task, by itself, reads by a channel what the first one has written: it is released by something else.
    pub fn is_told(&self, first: usize, second: usize) -> bool {
        let release = self.scheduling.places.get(second).map(|place| place.release).unwrap_or_default();
        let leads =
            |it: &crate::Channel| it.source.task == first && it.destinations.iter().any(|port| port.task == second);
        release.predecessor().map(TaskId::index) != Some(first) && self.channels.iter().any(leads)
    }
}
