//! Channels: messages from one task's jobs to those of others, of whichever component or partition.

use tactus_time::Duration;

/// A channel. Each job of its destinations reads when it begins, or later; each job of its source has written when it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// Name, unique.
    pub name: String,
    /// What becomes of messages.
    pub kind: ChannelKind,
    /// The longest message (bytes).
    pub size: u32,
    /// The task that writes.
    pub source: Port,
    /// The tasks that read; one alone where messages queue.
    pub destinations: Vec<Port>,
    /// The longest time that the file allows from a release of the source to the completion of a destination's job that reads what came
    /// of it.
    pub latency: Option<Duration>,
    /// Line of the system file at which the channel begins, for messages.
    pub line: usize,
}

/// What becomes of the messages of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelKind {
    /// Each takes the place of the one before.
    Sampling {
        /// For how long one is valid.
        refresh_period: Duration,
    },
    /// They wait in their order until the destination's next job, which takes all.
    Queuing {
        /// How many have room.
        depth: u32,
        /// The most that a job of the source sends.
        messages: u32,
    },
}

/// An end of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    /// Its name in the task's component, unique there.
    pub name: String,
    /// The task, by its index in [`System::tasks`](crate::System::tasks).
    pub task: usize,
}
