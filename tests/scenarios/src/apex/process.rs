//! A process in the model: its state, its deadline and its place in its script, as ARINC 653 part 1 has them; and the task that it is here,
//! whose jobs say when it looks.

use super::{Script, Step};

/// Nanoseconds.
pub type Time = u64;
/// No time.
pub const NEVER: Time = u64::MAX;
/// A millisecond.
pub const MS: Time = 1_000_000;

/// The state of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Dormant,
    Ready,
    Running,
    Waiting,
}

/// Who has suspended it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suspended {
    No,
    ByOther,
    ByItself,
}

/// What a process waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaits {
    Release,
    Time,
    /// The event, which had been set so often when it began to wait.
    Event(u64),
    /// To be resumed.
    Resumption,
    /// Room for one more error.
    Room,
}

/// A process and its task.
#[derive(Clone, Debug)]
pub struct Process {
    pub script: Script,
    pub state: State,
    pub suspended: Suspended,
    /// Where it is in its script.
    pub at: usize,
    /// What is left of the computation that it is in.
    pub left: Time,
    pub awaits: (Awaits, Time),
    /// From when on it may begin, and when it was started.
    pub from: Time,
    pub since: Time,
    /// The release that its deadline belongs to, and the deadline.
    pub release: Time,
    pub deadline: Time,
    /// Errors that it has raised and misses of its deadline, since when; the handler has not taken them.
    pub errors: Vec<(Time, bool)>,
    /// Its thread is in the middle of what was stopped, and leaves that before it runs next.
    pub leaves: bool,
    /// What is watched: the next deadline, the one after that, the last one that was missed, and before when no other is noticed.
    pub watched: (Time, Time),
    pub noticed: Time,
    pub quiet: Time,
    pub task: Task,
}

/// The jobs of a task.
#[derive(Clone, Debug)]
pub struct Task {
    pub period: Time,
    /// How many were released, and how many are over.
    pub released: u64,
    pub over: u64,
    /// Whether the first that is not over has begun.
    pub begun: bool,
}

impl Task {
    /// The release of the job that is the first not to be over.
    pub fn release(&self) -> Time {
        self.over * self.period
    }

    pub fn has_job(&self) -> bool {
        self.over < self.released
    }

    pub fn end_job(&mut self) {
        self.over += 1;
        self.begun = false;
    }
}

impl Process {
    pub fn new(script: Script) -> Process {
        let task = Task { period: script.period * MS, released: 0, over: 0, begun: false };
        Process {
            script,
            state: State::Dormant,
            suspended: Suspended::No,
            at: 0,
            left: 0,
            awaits: (Awaits::Time, NEVER),
            from: 0,
            since: 0,
            release: 0,
            deadline: NEVER,
            errors: Vec::new(),
            leaves: false,
            watched: (NEVER, NEVER),
            noticed: 0,
            quiet: 0,
            task,
        }
    }

    /// The deadline of a release, which counts from the start of the process if that came later.
    fn due(&self, release: Time) -> Time {
        match self.script.capacity {
            0 => NEVER,
            capacity => release.max(self.since) + capacity * MS,
        }
    }

    /// It is started, from this instant on.
    pub fn start(&mut self, now: Time) {
        self.start_with(now.div_ceil(self.task.period), (now, now));
    }

    /// It is started by the initialisation, in any job that has not begun; its time counts from the end of that.
    pub fn start_first(&mut self, now: Time, end: Time) {
        self.start_with(0, (now, end));
    }

    fn start_with(&mut self, first: Time, (now, since): (Time, Time)) {
        let first = first.max(self.task.over) * self.task.period;
        self.from = if self.script.periodic { first } else { now };
        (self.release, self.since) = (self.from, since);
        self.deadline = self.due(self.from);
        self.ready();
    }

    fn ready(&mut self) {
        (self.state, self.suspended, self.at, self.left) = (State::Ready, Suspended::No, 0, 0);
        self.watch();
    }

    /// It restarts, with the first release whose deadline is still to come.
    pub fn restart(&mut self, now: Time) {
        if !self.script.periodic {
            return self.start(now);
        }
        let mut first = self.task.over * self.task.period;
        while self.due(first) <= now {
            first += self.task.period;
        }
        (self.from, self.release) = (first, first);
        self.deadline = self.due(first);
        self.ready();
    }

    pub fn stop(&mut self) {
        (self.state, self.suspended, self.deadline) = (State::Dormant, Suspended::No, NEVER);
        self.watch();
    }

    /// A periodic process has this release.
    pub fn released(&mut self, release: Time) {
        if self.release != release {
            self.release = release;
            self.deadline = self.due(release);
        }
        self.watch();
    }

    /// Its deadline is watched. One that was missed is not missed again; the next release has its own.
    pub fn watch(&mut self) {
        let later = |n: u64| self.due(self.release + n * self.task.period);
        let next = match self.deadline {
            NEVER => NEVER,
            _ if self.script.periodic => (1..).map(later).find(|due| *due > self.deadline).unwrap_or(NEVER),
            _ => NEVER,
        };
        self.watched = (self.deadline, next);
        while self.watched.0 <= self.noticed {
            self.watched = (self.watched.1, self.later(self.watched.1));
        }
    }

    fn later(&self, deadline: Time) -> Time {
        if deadline == NEVER || !self.script.periodic {
            NEVER
        } else {
            deadline + self.task.period
        }
    }

    /// It misses the deadline that is watched.
    pub fn miss(&mut self, now: Time) -> Time {
        let missed = self.watched.0;
        self.noticed = missed;
        self.watched = (self.watched.1, self.later(self.watched.1));
        let next = self.task.released * self.task.period;
        self.quiet = if next > now { next } else { now + self.task.period };
        missed
    }

    pub fn step(&self) -> Option<Step> {
        self.script.steps.get(self.at).copied()
    }
}
