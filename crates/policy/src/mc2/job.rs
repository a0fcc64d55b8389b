//! What a core of MC² may have: a job, or the ghost of one that has finished.

use super::task_state::TaskState;
use tactus_time::{Duration, Level, TaskId};

/// A job on a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Job {
    /// Its task.
    pub name: (TaskId, Level),
    /// Where its task is kept, among the core's own or the shared ones as the level says.
    pub place: u16,
    /// Its number among the jobs of its task.
    pub number: u32,
}

impl Job {
    /// The oldest unfinished job of the task at this place.
    pub fn of(task: &TaskState, place: usize) -> Job {
        Job { name: task.name, place: place as u16, number: task.job }
    }
    /// Where its task is kept.
    pub fn place(&self) -> usize {
        usize::from(self.place)
    }
    /// Whether it is of level A or B.
    pub fn is_local(&self) -> bool {
        self.name.1 <= Level::B
    }
}

/// A ghost on a core.
#[derive(Clone, Copy, Debug)]
pub struct Ghost {
    /// Its task.
    pub name: (TaskId, Level),
    /// Where its task is kept, as for a job.
    pub place: u16,
    /// The finished job whose ghost it is.
    pub job: u32,
    /// What remains of the budget.
    pub left: Duration,
}

impl Ghost {
    /// That of the last finished job of the task at this place.
    pub fn of(task: &TaskState, place: usize) -> Ghost {
        Ghost { name: task.name, place: place as u16, job: task.job.wrapping_sub(1), left: task.left }
    }
    /// Where its task is kept.
    pub fn place(&self) -> usize {
        usize::from(self.place)
    }
    /// Whether the other one is the ghost of the same job.
    pub fn is(&self, other: &Option<Ghost>) -> bool {
        other.is_some_and(|other| (other.name, other.job) == (self.name, self.job))
    }
}
