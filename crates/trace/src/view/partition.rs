//! A partition as a trace is read against it.

use tactus_task::{ScheduleSwitch, Window};
use tactus_time::{Duration, TaskId};

/// A partition: whose tasks may run when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartitionView {
    /// Name.
    pub name: String,
    /// How critical it is, for people; empty if nothing is said.
    pub criticality: String,
    /// The length of the major frame.
    pub frame: Duration,
    /// Its windows in the frame, in all schedules.
    pub windows: Vec<Window>,
    /// When another schedule holds, by frame.
    pub switches: Vec<ScheduleSwitch>,
    /// Whether it may go on outside of them where nobody else has work.
    pub background: bool,
    /// Its tasks.
    pub tasks: Vec<TaskId>,
}
