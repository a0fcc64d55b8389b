//! What jobs that have begun keep from others, as a trace is read against it.

use super::plain;
use serde::{Deserialize, Serialize};
use tactus_task::ResourceProtocol;
use tactus_time::{CoreId, TaskId};

/// The ceilings of a system in which no two cores share a queue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CeilingView {
    /// By task: its preemption level; the less, the higher, and of equal ones the lower task's.
    pub levels: Vec<u64>,
    /// By task: the level from which on others may not take the core from a job of it that has begun.
    pub thresholds: Vec<Option<u64>>,
    /// The core of each task.
    #[serde(with = "plain")]
    pub cores: Vec<Option<CoreId>>,
    /// The resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceView>,
}

/// A resource.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResourceView {
    /// Who may not begin while it is held, and who runs while another one waits for it.
    #[serde(with = "plain")]
    pub protocol: ResourceProtocol,
    /// Whether it is taken from a job that holds it for longer than declared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
    /// Who uses it.
    #[serde(with = "plain")]
    pub users: Vec<TaskId>,
}
