//! Task sets drawn at random as the literature draws them, each the same for its seed for ever.
//!
//! The sets are plain numbers (nanoseconds), so that a study can make millions of them.

pub mod distributions;
pub mod published;
mod random;
mod utilisations;

use crate::task::Sporadic;
pub use random::Random;
use tactus_time::Duration;
pub use utilisations::{drs, randfixedsum, uunifast_discard};

/// A sporadic task in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Task {
    /// Longest execution time of a job.
    pub execution: u64,
    /// Shortest time between releases.
    pub period: u64,
    /// Relative deadline.
    pub deadline: u64,
}

impl From<Task> for Sporadic {
    fn from(task: Task) -> Sporadic {
        let ns = Duration::from_nanos;
        Sporadic::new(ns(task.execution), ns(task.period), ns(task.deadline))
    }
}
