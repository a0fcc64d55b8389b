//! Changes of the running system as a trace is read against them.

use tactus_task::Bound;
use tactus_time::{CoreId, Duration, TaskId};

/// What a system is at its start, and what is to become of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each task at the start, by `TaskId`.
    pub start: Vec<Now>,
    /// The changes by their numbers.
    pub list: Vec<ChangeView>,
    /// All cores go through changes together, and level A keeps to tables that count from time zero (MC²).
    pub together: bool,
}

/// A task between two changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// It releases jobs, where the servers around it are there.
    pub there: bool,
    /// Its period.
    pub period: Duration,
    /// Its relative deadline.
    pub deadline: Duration,
    /// What is promised.
    pub promise: Option<Bound>,
    /// The budget of each of its periods, where it is held to one.
    pub budget: Option<Duration>,
    /// Of a task of a slot, the longest execution that its program was admitted with.
    pub execution: Option<Duration>,
}

/// A change: what it names, and what is promised after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeView {
    /// In words.
    pub what: String,
    /// The core on which it is made; the first of those that share the queue.
    pub core: CoreId,
    /// When it is asked for.
    pub at: Duration,
    /// Why admission refused it; nothing if it was admitted.
    pub refused: Option<String>,
    /// What it concerns.
    pub target: Target,
    /// What becomes of that.
    pub action: Action,
    /// The tasks that have other budgets from then on.
    pub budgets: Vec<(TaskId, Duration)>,
    /// What is promised each task after it, with all those that were admitted before.
    pub promises: Vec<Option<Bound>>,
}

/// What a change concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A task.
    Task(TaskId),
    /// A server, by its place in the tree.
    Server(usize),
}

/// What a change makes of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It begins.
    Begins,
    /// It ends.
    Ends,
    /// It has this period and relative deadline, as far as they are named.
    Alters {
        /// The period.
        period: Option<Duration>,
        /// The relative deadline.
        deadline: Option<Duration>,
    },
}
