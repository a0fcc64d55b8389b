//! Components and processes in a summary: who faulted, who was restarted, and whose process missed its deadline.

use super::units::{instant, some_task_id, task_id};
use serde::Serialize;
use std::borrow::Cow;
use tactus_time::{Instant, TaskId};

/// A component that faulted and was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Culprit {
    /// The component's number.
    pub component: u32,
    /// Its name, where whoever made the summary knows the image; a trace has only the number.
    pub component_name: Option<String>,
    /// The task whose thread faulted; `null` if it was none's.
    #[serde(serialize_with = "some_task_id")]
    pub task_id: Option<TaskId>,
    /// Its name.
    pub task: Option<String>,
    /// The job in which it did; `null` if it was none's.
    pub job: Option<u32>,
    /// What it did, in words.
    pub fault: Cow<'static, str>,
    /// Whether it gave up by itself: a panic.
    pub panicked: bool,
    /// The address concerned.
    pub address: u64,
    /// The instruction at which it was stopped, where the trace tells it.
    pub instruction: Option<u64>,
    /// Where that is in the sources, function, file and line, where whoever made the summary has the program.
    pub source: Option<String>,
    /// Where.
    pub core: u8,
    /// When.
    #[serde(rename = "time_ns", serialize_with = "instant")]
    pub time: Instant,
}

impl Culprit {
    /// What it did, in which job, and where: `write to an address … at 0x40, in fly::steer (src/main.rs:41), job 3`. Of a panic that said where it was, the address of
    /// the call that ended it says nothing.
    pub fn what(&self) -> String {
        let address = match self.panicked && matches!(self.fault, Cow::Owned(_)) {
            true => String::new(),
            false => format!(" at {:#x}", self.address),
        };
        let source = self.source.as_ref().map(|source| format!(", in {source}")).unwrap_or_default();
        let job = self.job.map(|job| format!(", job {job}")).unwrap_or_default();
        format!("{}{address}{source}{job}", self.fault)
    }
}

/// A component that was stopped ran again, or was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restart {
    /// The component's number.
    pub component: u32,
    /// Its name, where whoever made the summary knows the image; a trace has only the number.
    pub component_name: Option<String>,
    /// How often it was restarted until then.
    pub count: u64,
    /// It has been restarted as often as it may, and stays stopped.
    pub given_up: bool,
    /// The number of the component that restarted it; nothing if it was the root scheduler.
    pub by: Option<u32>,
    /// Its name, as above.
    pub by_name: Option<String>,
    /// When.
    #[serde(rename = "time_ns", serialize_with = "instant")]
    pub time: Instant,
}

/// Deadlines that a process of ARINC 653 has missed, which are not those of its task's jobs, for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessMisses {
    /// The task that is the process.
    #[serde(serialize_with = "task_id")]
    pub task_id: TaskId,
    /// Its name.
    pub task: String,
    /// How many.
    pub missed: u64,
    /// The first of them.
    #[serde(rename = "deadline_ns", serialize_with = "instant")]
    pub deadline: Instant,
    /// When that was noticed.
    #[serde(rename = "noticed_ns", serialize_with = "instant")]
    pub noticed: Instant,
    /// What was done about it: `error-handler`, `restart-process`, or `note`, where monitors may have done more.
    pub action: &'static str,
    /// The task that is to blame.
    #[serde(serialize_with = "task_id")]
    pub by_id: TaskId,
    /// Its name.
    pub by: String,
    /// What it did.
    pub why: String,
}
