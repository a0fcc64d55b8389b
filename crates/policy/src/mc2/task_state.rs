//! One task of MC² and its budgets: as if wrapped in a server of its own (reference 2.3).
//!
//! At each period boundary a job is released and a budget arrives, both numbered alike from 0. A job uses the budget
//! of its own period, at the earliest, and that budget's deadline; when it has used it up, it goes on with the next
//! one, waiting for it where it has not arrived. So a job that overruns consumes several budgets in succession, and
//! the jobs after it, being behind, go on with what is left. A task that is merely late, because others came first,
//! finds its budgets waiting, each with its own deadline: at level C this is what the tardiness bound is proved for.
//! A budget that its task has no job for is gone at the next boundary.

use crate::heap::Key;
use crate::records::Recorder;
use crate::{Mc2, Task};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, Level, TaskId};

/// Whether a task has something that competes for a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No pending job, or its budget is used up.
    Waiting,
    /// A pending job that may run.
    Ready,
    /// A finished job whose left-over budget lets lower levels run.
    Ghost,
}

/// A task, its jobs and its budgets.
#[derive(Clone, Debug)]
pub struct TaskState {
    /// The task.
    pub name: (TaskId, Level),
    /// What it has to compete with.
    pub state: State,
    /// It has boundaries before this instant only: none any more if its component was stopped.
    until: Instant,
    stopped: bool,
    pub(super) period: Duration,
    pub(super) deadline: Duration,
    /// Length of each budget, the allowance included.
    pub(super) full: Duration,
    /// Jobs are held to their budgets.
    pub enforce: bool,
    /// Left-over budget becomes a ghost.
    ghosts: bool,
    /// How many boundaries have been noticed: jobs released, budgets arrived. And when the next one is due.
    released: u32,
    next: Instant,
    /// The oldest unfinished job and what it was charged.
    pub job: u32,
    /// See `job`.
    pub charged: Duration,
    /// The budget in use: its number, its boundary and what is left of it.
    budget: u32,
    boundary: Instant,
    /// See `budget`.
    pub left: Duration,
}

impl TaskState {
    /// The length of each budget, the allowance that all have alike included.
    pub(super) fn full_budget(task: &Task, budget: Duration, mc2: &Mc2) -> Duration {
        if task.level == Level::D {
            return Duration::ZERO;
        }
        let allowance = if mc2.enforce { mc2.allowance } else { Duration::ZERO };
        budget.checked_add(allowance).unwrap_or(Duration::MAX)
    }

    /// The task before its first job.
    pub fn new(id: TaskId, task: &Task, mc2: &Mc2) -> TaskState {
        let budgeted = task.level != Level::D;
        let enforce = mc2.enforce && budgeted;
        TaskState {
            name: (id, task.level),
            state: State::Waiting,
            until: Instant::NEVER,
            stopped: false,
            period: task.period,
            deadline: task.deadline,
            full: TaskState::full_budget(task, task.budget, mc2),
            enforce,
            ghosts: mc2.slack_shifting && budgeted,
            released: 0,
            next: Instant::ZERO.saturating_add(task.offset),
            job: 0,
            charged: Duration::ZERO,
            budget: 0,
            boundary: Instant::ZERO,
            left: Duration::ZERO,
        }
    }

    /// Place among the tasks of levels A to C: the deadline of the budget in use.
    pub fn deadline_key(&self, place: usize) -> Key {
        Key::at(self.boundary.saturating_add(self.deadline), place)
    }

    /// Place among the tasks of level D: the release of the oldest unfinished job.
    pub fn release_key(&self, place: usize) -> Key {
        Key::at(self.boundary, place)
    }

    /// The boundary after the one at `boundary`; nothing if it is later than all that the task has.
    pub fn next_boundary(&self, boundary: Instant) -> Option<Instant> {
        let next = boundary.saturating_add(self.period);
        (next < self.until).then_some(next)
    }

    /// From when on the task can run, as things stand at `now`, boundaries included that are due and not yet noticed;
    /// and what it has left of its budget then. Nothing if it cannot.
    pub fn ready_since(&self, now: Instant) -> Option<(Instant, Duration)> {
        match self.state {
            State::Ready => Some((self.boundary, self.left)),
            State::Waiting | State::Ghost => {
                (self.next <= now && self.next < self.until).then_some((self.next, self.full))
            }
        }
    }

    /// Makes due what the boundary brings: a job, a budget, the end of a ghost. Whether the state or the deadline of
    /// what competes has changed.
    pub fn release(&mut self, boundary: Instant, records: &mut Recorder) -> bool {
        if boundary >= self.until {
            return false;
        }
        let number = self.released;
        self.released = number.wrapping_add(1);
        self.next = boundary.saturating_add(self.period);
        records.job(EventKind::Release, self.name, number, boundary.as_nanos());
        if self.state == State::Ready {
            return false;
        }
        // Its only job, or an exhausted one that has waited for just this budget.
        self.take_budget(number, boundary, records);
        true
    }

    /// Charges the running job.
    pub fn charge(&mut self, elapsed: Duration) {
        self.charged = self.charged.checked_add(elapsed).unwrap_or(Duration::MAX);
        self.left = self.left.saturating_sub(elapsed);
    }

    /// Ends the oldest unfinished job.
    pub fn complete(&mut self, records: &mut Recorder) {
        records.job(EventKind::Complete, self.name, self.job, self.charged.as_nanos());
        self.job = self.job.wrapping_add(1);
        self.charged = Duration::ZERO;
        if self.job != self.released {
            if self.budget.wrapping_add(1) == self.job {
                let boundary = self.boundary.saturating_add(self.period);
                self.take_budget(self.job, boundary, records);
            } else {
                // Behind: an earlier job has used up budgets of later periods.
                self.exhaust(records);
            }
        } else if self.ghosts && !self.left.is_zero() {
            self.state = State::Ghost;
        } else {
            self.state = State::Waiting;
        }
    }

    /// If the budget is used up: goes on to the next one, or waits for it. Whether it was used up.
    pub fn exhaust(&mut self, records: &mut Recorder) -> bool {
        if !self.enforce || !self.left.is_zero() {
            return false;
        }
        let next = self.boundary.saturating_add(self.period);
        records.job(EventKind::Exhausted, self.name, self.job, next.as_nanos());
        let number = self.budget.wrapping_add(1);
        if number == self.released {
            self.state = State::Waiting;
        } else {
            self.take_budget(number, next, records);
        }
        true
    }

    /// Uses up the ghost's budget. Whether the ghost is at its end.
    pub fn drain(&mut self, elapsed: Duration) -> bool {
        self.left = self.left.saturating_sub(elapsed);
        let end = self.left.is_zero();
        if end {
            self.state = State::Waiting;
        }
        end
    }

    /// Takes the task out for good.
    pub fn remove(&mut self, records: &mut Recorder) {
        records.job(EventKind::Removed, self.name, self.job, 0);
        (self.until, self.stopped) = (Instant::ZERO, true);
        self.state = State::Waiting;
    }

    /// Whether every job that it has released is finished.
    pub(super) fn has_no_job(&self) -> bool {
        self.job == self.released || self.stopped
    }

    /// Whether nothing of it is left: no job, and no ghost either.
    pub(super) fn is_at_rest(&self) -> bool {
        self.has_no_job() && self.state == State::Waiting
    }

    /// What is left of its ghost, if it has one, is gone.
    pub(super) fn lay_ghost(&mut self) {
        if self.state == State::Ghost {
            (self.state, self.left) = (State::Waiting, Duration::ZERO);
        }
    }

    /// When its next boundary is due; never if it has none.
    pub(super) fn next(&self) -> Instant {
        if self.next < self.until {
            self.next
        } else {
            Instant::NEVER
        }
    }

    /// It has no boundaries from then on.
    pub(super) fn end_at(&mut self, at: Instant) {
        self.until = self.until.min(at);
    }

    /// It begins, or begins again, unless its component was stopped.
    pub(super) fn begin(&mut self) {
        if !self.stopped {
            self.until = Instant::NEVER;
        }
    }

    /// Its next boundary is this one. Whether it has it.
    pub(super) fn comes_next(&mut self, next: Instant) -> bool {
        self.next = next;
        next < self.until
    }

    fn take_budget(&mut self, number: u32, boundary: Instant, records: &mut Recorder) {
        self.budget = number;
        self.boundary = boundary;
        self.left = self.full;
        self.state = State::Ready;
        if self.enforce {
            records.job(EventKind::Replenish, self.name, self.job, self.full.as_nanos());
        }
    }
}
