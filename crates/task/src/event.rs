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

/// Events that the jobs of a task may signal, or may await: nobody else may.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct EventRight {
    /// To await them; else to signal them.
    pub awaits: bool,
    /// The first.
    pub first: u16,
    /// How many.
    pub count: u16,
}

impl EventRight {
    /// To signal one event.
    pub const fn to_signal(event: u16) -> EventRight {
        EventRight { awaits: false, first: event, count: 1 }
    }

    /// To await one event.
    pub const fn to_await(event: u16) -> EventRight {
        EventRight { awaits: true, first: event, count: 1 }
    }

    /// Whether it allows this.
    pub const fn allows(self, call: EventCall) -> bool {
        let (awaits, event) = match call {
            EventCall::Await(event) => (true, event),
            EventCall::Signal(event) | EventCall::Broadcast(event) => (false, event),
        };
        self.awaits == awaits && event >= self.first && event - self.first < self.count
    }

    /// As a word.
    pub const fn to_word(self) -> u64 {
        (self.awaits as u64) << 32 | (self.count as u64) << 16 | self.first as u64
    }

    /// Of a word; nothing if that means none.
    pub const fn of_word(word: u64) -> Option<EventRight> {
        if word >> 33 != 0 {
            return None;
        }
        Some(EventRight { awaits: word >> 32 != 0, first: word as u16, count: (word >> 16) as u16 })
    }
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
    /// The events that jobs signal and await.
    pub fn rights(&self) -> impl Iterator<Item = EventRight> + '_ {
        let of = |step: &JobStep| match step.action {
            JobAction::Sleep(_) => [None; 2],
            JobAction::Signal(event) | JobAction::Broadcast(event) => [Some(EventRight::to_signal(event)), None],
            JobAction::Await { event, gives } => [Some(EventRight::to_await(event)), gives.map(EventRight::to_signal)],
        };
        self.bodies.iter().flatten().flat_map(of).flatten()
    }

    /// What the job with this number does.
    pub fn of_job(&self, job: u32) -> &[JobStep] {
        let body = match self.order.len() {
            0 => return &[],
            count => self.order[job as usize % count],
        };
        self.bodies.get(usize::from(body)).map_or(&[], Vec::as_slice)
    }
}
