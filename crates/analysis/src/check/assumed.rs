//! What is assumed of a task: its execution times, and its name in traces.

use tactus_model::Task;
use tactus_time::{Duration, Level, TaskId};

/// The execution time that a task may take as assumed at a level; zero where the file gives none.
pub(crate) fn assumed(task: &Task, level: Level) -> Duration {
    task.execution[level.index()].unwrap_or(Duration::ZERO)
}

/// A task without levels: its execution time.
pub(crate) fn plain(task: &Task) -> Duration {
    assumed(task, Level::A)
}

/// The task's place as its name in traces and policies.
pub(crate) fn id(place: usize) -> TaskId {
    TaskId(u16::try_from(place).unwrap_or(u16::MAX))
}
