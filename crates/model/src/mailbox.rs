//! Mailboxes: queues of messages from a task of one sandbox to a task of another, in pages that only the monitors show to both kernels.

use crate::limits::PAGE;
use tactus_time::Duration;

/// A mailbox. What its source sends waits, in its order, until a job of its destination takes it; each looks by itself, nobody is interrupted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mailbox {
    /// Name, unique.
    pub name: String,
    /// Who sends.
    pub source: MailboxEnd,
    /// Who takes.
    pub destination: MailboxEnd,
    /// The longest message (bytes).
    pub size: u32,
    /// How many messages have room.
    pub depth: u32,
    /// The most that a job of the source sends.
    pub messages: u32,
    /// The longest time that the file allows from the release of the job that sends to the completion of the job that takes.
    pub latency: Option<Duration>,
    /// Line of the system file at which the mailbox begins, for messages.
    pub line: usize,
}

/// An end of a mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MailboxEnd {
    /// The sandbox, by its index in [`Sandboxes::parts`](crate::Sandboxes::parts).
    pub sandbox: usize,
    /// The task, by its index in that system's [`System::tasks`](crate::System::tasks).
    pub task: usize,
}

/// An end of a mailbox as its sandbox's system has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MailboxPort {
    /// The port's name in the task's component, unique there.
    pub name: String,
    /// The task, by its index in [`System::tasks`](crate::System::tasks).
    pub task: usize,
    /// Whether it sends; else it takes.
    pub sends: bool,
    /// The mailbox's number in the whole's file.
    pub number: usize,
    /// The longest message (bytes).
    pub size: u32,
    /// How many messages have room.
    pub depth: u32,
    /// The most that a job of the source sends.
    pub messages: u32,
    /// Its first page among those of all mailboxes: [`MailboxPort::pages`] that the source writes, and one that the destination writes.
    pub first_page: u64,
}

impl MailboxPort {
    /// How many pages its messages take.
    pub fn pages(&self) -> u64 {
        pages(self.size, self.depth)
    }
}

/// How many pages this many messages take at most: a head, and slots with three words before each message (`tactus_abi::port`).
pub(crate) fn pages(size: u32, depth: u32) -> u64 {
    (64 + u64::from(depth) * (24 + u64::from(size).next_multiple_of(8))).div_ceil(PAGE)
}
