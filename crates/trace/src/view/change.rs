//! Changes of the running system as a trace is read against them.

use super::{plain, written_promise};
use serde::{Deserialize, Serialize};
use tactus_task::Bound;
use tactus_time::{CoreId, Duration, TaskId};

/// What a system is at its start, and what is to become of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Each task at the start, by `TaskId`.
    pub start: Vec<Now>,
    /// The changes by their numbers.
    pub list: Vec<ChangeView>,
    /// All cores go through changes together, and level A keeps to tables that count from time zero (MC²).
    #[serde(default)]
    pub together: bool,
}

/// A task between two changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Now {
    /// It releases jobs, where the servers around it are there.
    pub there: bool,
    /// Its period.
    #[serde(with = "plain", rename = "period_ns")]
    pub period: Duration,
    /// Its relative deadline.
    #[serde(with = "plain", rename = "deadline_ns")]
    pub deadline: Duration,
    /// What is promised.
    #[serde(with = "written_promise")]
    pub promise: Option<Bound>,
    /// The budget of each of its periods, where it is held to one.
    #[serde(with = "plain", rename = "budget_ns", default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Duration>,
    /// Of a task of a slot, the longest execution that its program was admitted with.
    #[serde(skip)]
    pub execution: Option<Duration>,
}

/// A change: what it names, and what is promised after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeView {
    /// In words.
    pub what: String,
    /// The core on which it is made; the first of those that share the queue.
    #[serde(with = "plain")]
    pub core: CoreId,
    /// When it is asked for.
    #[serde(with = "plain", rename = "at_ns")]
    pub at: Duration,
    /// Why admission refused it; nothing if it was admitted.
    pub refused: Option<String>,
    /// What it concerns.
    pub target: Target,
    /// What becomes of that.
    pub action: Action,
    /// The tasks that have other budgets from then on.
    #[serde(with = "plain", default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<(TaskId, Duration)>,
    /// What is promised each task after it, with all those that were admitted before.
    #[serde(with = "written_promise::each")]
    pub promises: Vec<Option<Bound>>,
}

/// What a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A task.
    Task(#[serde(with = "plain")] TaskId),
    /// A server, by its place in the tree.
    Server(usize),
}

/// What a change makes of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It begins.
    Begins,
    /// It ends.
    Ends,
    /// It has this period and relative deadline, as far as they are named.
    Alters {
        /// The period.
        #[serde(with = "plain", rename = "period_ns", default)]
        period: Option<Duration>,
        /// The relative deadline.
        #[serde(with = "plain", rename = "deadline_ns", default)]
        deadline: Option<Duration>,
    },
}
