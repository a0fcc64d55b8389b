//! Jobs that wait in the middle of their work: for time to pass, for a device, for an answer.

use tactus_time::Duration;

/// How often and how long a job of a task may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WaitLimit {
    /// The most waits of one job; 0 if its jobs never wait.
    pub most: u16,
    /// The longest of them.
    pub longest: Duration,
}

impl WaitLimit {
    /// The most waits of one job, of any task.
    pub const MOST: usize = 16;
}

/// A wait of each job of a task, as jobs really do it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// The job waits when it has executed this long,
    pub after: Duration,
    /// for this long.
    pub length: Duration,
}
