//! Chains: tasks of which each releases the next, or tells it something by a channel.

use crate::System;
use tactus_time::TaskId;

impl System {
    /// Whether the second task, by itself, reads by a channel what the first one has written: it is released by something else.
    pub fn is_told(&self, first: usize, second: usize) -> bool {
        let release = self.scheduling.places.get(second).map(|place| place.release).unwrap_or_default();
        let leads =
            |it: &crate::Channel| it.source.task == first && it.destinations.iter().any(|port| port.task == second);
        release.predecessor().map(TaskId::index) != Some(first) && self.channels.iter().any(leads)
    }
}
