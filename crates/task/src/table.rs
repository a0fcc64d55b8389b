//! Cyclic tables, by which level A of MC² runs on each core.

use alloc::vec::Vec;
use core::fmt;
use tactus_time::{Duration, TaskId};

/// The table of one core: its slots in order of start, none overlapping, repeated for ever.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// Length of one cycle; zero if the table has no slots.
    pub cycle: Duration,
    /// The slots.
    pub slots: Vec<Slot>,
}

/// A stretch of the cycle that belongs to a level-A task. A job may be split over several slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Whose it is.
    pub task: TaskId,
    /// Start, counted from the start of the cycle.
    pub start: Duration,
    /// End, counted from the start of the cycle.
    pub end: Duration,
}

/// One slot after another: `cycle 10 ms · 0 [0 ns, 3 ms)`.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {}", self.cycle)?;
        self.slots.iter().try_for_each(|s| write!(f, " · {} [{}, {})", s.task.0, s.start, s.end))
    }
}
