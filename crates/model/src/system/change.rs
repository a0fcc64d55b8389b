//! Changes of the running system, as the file asks for them.

use tactus_time::Duration;

/// A change, as the file asks for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// When it is asked for.
    pub at: Duration,
    /// Of what.
    pub part: Part,
    /// Which.
    pub action: Action,
    /// Line of the system file at which it begins.
    pub line: usize,
}

/// What can be changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A task, by its place in [`System::tasks`](crate::System::tasks).
    Task(usize),
    /// A server, by its place in [`Scheduling::servers`](crate::Scheduling::servers).
    Server(usize),
}

/// What is to be done with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It begins.
    Add,
    /// It ends.
    Remove,
    /// It has these values from then on.
    Alter(Values),
}

/// New values; what is not given stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Values {
    /// The execution time of a task, the budget of a server. Where tasks have levels: at each level at which the task has one.
    pub time: Option<Duration>,
    /// Execution times at single levels, A to D.
    pub levels: [Option<Duration>; 4],
    /// The period. A task whose deadline was its period has the new one for a deadline too.
    pub period: Option<Duration>,
    /// The relative deadline of a task.
    pub deadline: Option<Duration>,
    /// The priority.
    pub priority: Option<u32>,
}
