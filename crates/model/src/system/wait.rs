//! A wait of a job in the middle of its work.

use tactus_time::Duration;

/// A wait of each job of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// How long the job executes before it.
    pub after: Duration,
    /// How long it waits at most.
    pub length: Duration,
    /// How long the built-in workload really asks to wait; nothing if as long as it may.
    pub actual: Option<Duration>,
}
