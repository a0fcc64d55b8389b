//! What a tree of servers is made from.

mod codec;
mod partitions;
mod per_server;
mod resources;

use crate::reconfigure::{Change, Part, Protocol};
use alloc::vec::Vec;
pub use partitions::Partitions;
pub use per_server::{Child, SchedulerPlan};
pub use resources::{Resource, ResourceTree, ResourceUser};
use tactus_task::{Overrun, Release, ServerKind, TaskOrder, WaitLimit};
use tactus_time::{CoreSet, Duration, TaskId};

/// The most servers from the root down to a task, the root included.
pub const MAX_DEPTH: usize = 6;
/// The most arrivals that one call may bring; a machine brings further ones by its next call.
pub const MAX_ARRIVALS: usize = 8;
/// The most replenishments that a sporadic server keeps apart.
pub const MAX_REPLENISHMENTS: usize = 32;

/// A tree of servers and where each task is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// The servers; place 0 is the root. A server comes after its parent.
    pub servers: Vec<Server>,
    /// For each task of the set-up, in its order.
    pub places: Vec<TaskPlacement>,
    /// What releases each task's jobs, in the order of the tasks; empty if time releases them all.
    pub releases: Vec<Release>,
    /// How often and how long each task's jobs may wait, in the order of the tasks; empty if none ever waits.
    pub waits: Vec<WaitLimit>,
    /// The least time from one line of memory to the next on a core; greater than zero where a budget is one of misses.
    pub line: Duration,
    /// What the release jitter of jobs is drawn from.
    pub seed: u64,
}

/// A server, or the root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// Place of the server that it is inside of; the root's is 0.
    pub parent: u16,
    /// The cores on which it has its budget: some of its parent's.
    pub cores: CoreSet,
    /// How what is inside is ordered.
    pub order: TaskOrder,
    /// How its cores share queues: each core is in one of these sets. Where there are servers inside, each core is by
    /// itself.
    pub queues: Vec<CoreSet>,
    /// The length of a turn of the orders that take turns; of [`TaskOrder::LeastLaxity`], how long a job runs at least until it
    /// is looked at again because time has passed; greater than zero there.
    pub quantum: Duration,
    /// Its budget on each core; nothing if and only if it is the root.
    pub supply: Option<Supply>,
    /// Larger goes first, where its parent orders by [`TaskOrder::FixedPriority`].
    pub priority: u32,
    /// Without budget its work may go on behind all that has budget.
    pub background: bool,
}

/// How much time a server gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supply {
    /// When its budget comes back.
    pub kind: ServerKind,
    /// The budget, greater than zero and no longer than the period; of misses, the least time in which memory serves so many lines.
    pub budget: Duration,
    /// The period.
    pub period: Duration,
    /// Of misses: the least time in which memory takes back as many changed lines as it may; nothing if as many as it likes. Greater than
    /// zero and no longer than the period.
    pub write_backs: Option<Duration>,
}

/// Where a task is, and what it may do there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskPlacement {
    /// Place of its server.
    pub server: u16,
    /// Larger goes first, where its server orders by [`TaskOrder::FixedPriority`].
    pub priority: u32,
    /// What happens when a job takes longer than it should.
    pub overrun: Overrun,
}

/// The tasks of a slot: they come and go with programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotTasks {
    /// The first; all are in one server of one core.
    pub first: TaskId,
    /// How many, one after another.
    pub tasks: u16,
}

/// A tree, and how it is reconfigured while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReconfigurableTree {
    /// Everything that is there at some time, with the values of the start.
    pub tree: Tree,
    /// What is not there at the start. What lies in an absent server is not there either.
    pub absent: Vec<Part>,
    /// The reconfigurations in the order in which they are requested.
    pub changes: Vec<Change>,
    /// The slots, in the order of their tasks. These are absent at the start, and no reconfiguration is about them.
    pub slots: Vec<SlotTasks>,
    /// When they are applied.
    pub protocol: Protocol,
}
