//! What a core of MC² may have: a job, or the ghost of one that has finished.

use super::task_state::TaskState;
use tactus_time::{Duration, Level, TaskId};

/// A job on a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Job {
    pub(super) name: (TaskId, Level),
    /// Where its task is kept, among the core's own or the shared ones as the level says.
    pub(super) place: u16,
    pub(super) number: u32,
}

impl Job {
    pub(super) fn of(task: &TaskState, place: usize) -> Job {
        Job { name: task.name, place: place as u16, number: task.job }
    }
    pub(super) fn place(&self) -> usize {
        usize::from(self.place)
    }
    pub(crate) fn is_local(&self) -> bool {
        self.name.1 <= Level::B
    }
}

/// A ghost on a core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ghost {
    pub(super) name: (TaskId, Level),
    pub(super) place: u16,
    /// The finished job whose ghost it is.
    pub(super) job: u32,
    pub(super) left: Duration,
}

impl Ghost {
    pub(super) fn of(task: &TaskState, place: usize) -> Ghost {
        Ghost { name: task.name, place: place as u16, job: task.job.wrapping_sub(1), left: task.left }
    }
    pub(super) fn place(&self) -> usize {
        usize::from(self.place)
    }
    pub(super) fn is(&self, other: &Option<Ghost>) -> bool {
        other.is_some_and(|other| (other.name, other.job) == (self.name, self.job))
    }
}
