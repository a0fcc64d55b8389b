//! Events: what jobs wait for beside time, and by which they wake each other.

use alloc::vec::Vec;
use tactus_time::Duration;

/// What an event is, by what it takes for a job that awaits it to go on. Those that wait for one go on in the order in which they came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventRule {
    /// A condition variable: a signal wakes the first that waits, a broadcast all. One for whom nobody waits is lost.
    Condition,
    /// A counting semaphore, with its first count: a signal wakes the first that waits, or adds one.
    Semaphore(u32),
    /// A barrier: all go on when so many have come.
    Barrier(u32),
}

/// A thing that a job does to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventCall {
    /// Goes on when the event lets it.
    Await(u16),
    /// Lets one go on.
    Signal(u16),
    /// Lets all go on that wait.
    Broadcast(u16),
}

impl EventCall {
    /// The most that one call of a policy may bring.
    pub const MOST: usize = 4;
}

/// What a job does, when it has executed so long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JobStep {
    /// What it has executed before.
    pub after: Duration,
    /// What it does.
    pub action: JobAction,
}

/// What a job does beside executing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobAction {
    /// It waits for time to pass.
    Sleep(Duration),
    /// It gives a semaphore back, if one is named, and awaits the event.
    Await {
        /// What it awaits.
        event: u16,
        /// The semaphore that it gives back at the same instant: the lock of a condition variable.
        gives: Option<u16>,
    },
    /// It lets one go on that awaits the event.
    Signal(u16),
    /// It lets all go on that await the event.
    Broadcast(u16),
}

/// What the jobs of a task do, one after another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// What jobs do, each step after the one before it.
    pub bodies: Vec<Vec<JobStep>>,
    /// Which of them each job does; after the last comes the first again.
    pub order: Vec<u16>,
}

impl Program {
    /// What the job with this number does.
    pub fn of_job(&self, job: u32) -> &[JobStep] {
        let body = match self.order.len() {
            0 => return &[],
            count => self.order[job as usize % count],
        };
        self.bodies.get(usize::from(body)).map_or(&[], Vec::as_slice)
    }
}
