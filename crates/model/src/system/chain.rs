//! Chains: tasks of which each releases the next, or tells it something by a channel.

use tactus_time::Duration;

/// Tasks of which each is released by the completion of the one before, or reads its messages by a channel; and a promise for all of
/// them together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chain {
    /// Name, unique.
    pub name: String,
    /// The tasks by their indices in [`System::tasks`](crate::System::tasks), in their order; two at least.
    pub tasks: Vec<usize>,
    /// The longest time from a release of the first task to the completion of the last one's job that comes of it.
    pub deadline: Duration,
    /// Line of the system file at which the chain begins, for messages.
    pub line: usize,
}
