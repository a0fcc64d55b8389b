//! Which threads tasks are where the system runs on Linux.

use tactus_time::TaskId;

/// The thread that a task is on Linux. A name or a group is there, or both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinuxThread {
    /// The task.
    pub task: TaskId,
    /// The thread's name (`comm`) or number.
    pub name: Option<String>,
    /// The name or number of its thread group (process).
    pub group: Option<String>,
}
