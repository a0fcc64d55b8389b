//! A chain as a trace is read against it.

use super::plain;
use serde::{Deserialize, Serialize};
use tactus_time::{Duration, TaskId};

/// A chain and the promise made for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainView {
    /// Name.
    pub name: String,
    /// Its tasks in their order.
    #[serde(with = "plain")]
    pub tasks: Vec<TaskId>,
    /// Those of them that a message releases, which the job before sends.
    #[serde(with = "plain", default)]
    pub by_message: Vec<TaskId>,
    /// Of each task but the first, whether it is told by messages: the job that comes of one of the task before is the first that begins
    /// when that one is complete. Else job k is released by job k, or, where messages release jobs, by the job that sent the k-th.
    #[serde(default, skip_serializing_if = "none_told")]
    pub told: Vec<bool>,
    /// The sampling channels by which a task tells the next one: the task, and the channel's number.
    #[serde(with = "plain", default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<(TaskId, u8)>,
    /// For a service: its client's number. The tasks are those that ask, and then the one that answers; a run through it goes from the
    /// release of the job that asks to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<u16>,
    /// The longest time that the file allows from a release of the first task to the completion of the last one's job; nothing if it
    /// allows any.
    #[serde(with = "plain", rename = "deadline_ns", default)]
    pub deadline: Option<Duration>,
    /// The longest time that was promised; nothing if nothing was.
    #[serde(with = "plain", rename = "bound_ns", default)]
    pub bound: Option<Duration>,
}

/// A kept run leaves out who is told by messages where nobody is.
fn none_told(told: &[bool]) -> bool {
    !told.contains(&true)
}
