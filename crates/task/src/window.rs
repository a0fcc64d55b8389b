//! Windows of partitions: a static table of who has a core when, repeated with each major frame.

use tactus_time::{CoreId, Duration};

/// A window: one partition has this core from `start` on for `length`, in every major frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The core.
    pub core: CoreId,
    /// Start, counted from the start of the major frame.
    pub start: Duration,
    /// Length, greater than zero.
    pub length: Duration,
}

impl Window {
    /// Its end, counted from the start of the major frame.
    pub fn end(&self) -> Duration {
        self.start.checked_add(self.length).unwrap_or(Duration::MAX)
    }
}
