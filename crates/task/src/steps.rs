//! What jobs do beside executing.

use crate::{CriticalSection, LoaderSteps, Program, Wait};
use alloc::vec::Vec;
use tactus_record::RequestRules;
use tactus_time::TaskId;

/// What the jobs of each task do beside executing, by task; nothing where a list is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobSteps {
    /// Their critical sections.
    pub sections: Vec<Vec<CriticalSection>>,
    /// Their waits.
    pub waits: Vec<Vec<Wait>>,
    /// What they do besides, in which waits and sections have no part.
    pub programs: Vec<Program>,
    /// Whom they ask, and whom they answer.
    pub services: Vec<ServiceSteps>,
    /// How many lines each asks memory for in all its execution.
    pub misses: Vec<u32>,
    /// How many changed lines each makes memory take back in all its execution.
    pub write_backs: Vec<u32>,
    /// How many of the events each causes that its core's counter counts for work that gives way to it, in all its execution.
    pub sampled: Vec<u32>,
    /// What the loader does in its jobs, if there is one.
    pub loader: Option<LoaderSteps>,
}

/// A service, as jobs of the built-in workload ask for it and give it: a client's job asks when it begins, if no request of the client is
/// outstanding; the server's job answers when it has done all else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceSteps {
    /// The task that serves.
    pub server: TaskId,
    /// By client, its tasks, each with after how many of its jobs a request counts as lost.
    pub clients: Vec<Vec<(TaskId, u32)>>,
    /// How it serves.
    pub rules: RequestRules,
    /// By client: by priority, in one of how many jobs it serves a request of it at most.
    pub every: Vec<u64>,
    /// The number of its first client.
    pub first: u16,
    /// Whether a client's answer is seen when the time for it is over, and not before.
    pub shaped: bool,
}
