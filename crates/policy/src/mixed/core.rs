//! One core: its tasks, its ready queue, its mode.

use super::reconfigure::Changes;
use super::{Dual, Mixed, MixedOrder};
use crate::heap::{Heap, IndexedHeap, Key};
use crate::records::{Clock, OnCore, Recorder};
use crate::{Decision, Event, PolicyConfig, Running, Task};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{EventKind, Sink};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// Why a job ended without being finished: the `arg` of a `Dropped` record.
#[derive(Clone, Copy)]
enum Dropped {
    /// The core gave up its level.
    Level = 2,
    /// It used up its budget.
    Budget = 3,
}

/// Whom a core serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// All: no critical job has exceeded its LO time.
    Low,
    /// Critical tasks only.
    High,
}

/// A task and its jobs.
pub(super) struct TaskState {
    pub(super) name: (TaskId, Level),
    pub(super) low: Duration,
    /// The budget at its own level.
    pub(super) own: Duration,
    pub(super) period: Duration,
    pub(super) deadline: Duration,
    pub(super) virtual_deadline: Duration,
    pub(super) priority: u32,
    /// How many releases were noticed.
    released: u32,
    /// The oldest unfinished job: number, release, charge; and how many are released and unfinished.
    job: u32,
    release: Instant,
    charged: Duration,
    pub(super) pending: u32,
    /// It releases jobs before this instant only.
    pub(super) until: Instant,
    /// Its component was stopped.
    pub(super) removed: bool,
}

impl TaskState {
    fn new(id: TaskId, task: &Task, dual: &Dual) -> TaskState {
        TaskState {
            name: (id, task.level),
            low: dual.low,
            own: task.budget,
            period: task.period,
            deadline: task.deadline,
            virtual_deadline: dual.virtual_deadline,
            priority: dual.priority,
            released: 0,
            job: 0,
            release: Instant::ZERO,
            charged: Duration::ZERO,
            pending: 0,
            until: Instant::NEVER,
            removed: false,
        }
    }

    pub(super) fn is_critical(&self) -> bool {
        self.name.1 == Level::A
    }

    /// What a job may use in this mode.
    fn budget(&self, mode: Mode) -> Duration {
        match mode {
            Mode::Low => self.low,
            Mode::High => self.own,
        }
    }

    fn urgency(&self, order: MixedOrder, mode: Mode) -> u64 {
        let deadline = match (order, mode) {
            (MixedOrder::FixedPriority, _) => return u64::from(u32::MAX - self.priority),
            (MixedOrder::VirtualDeadline, Mode::Low) if self.is_critical() => self.virtual_deadline,
            (MixedOrder::VirtualDeadline, _) => self.deadline,
        };
        self.release.saturating_add(deadline).as_nanos()
    }

    /// A job is released; of several the oldest comes first.
    fn begin(&mut self, number: u32, release: Instant) {
        if self.pending == 0 {
            (self.job, self.release, self.charged) = (number, release, Duration::ZERO);
        }
        self.pending = self.pending.saturating_add(1);
    }

    /// Ends the oldest unfinished job, however.
    fn end(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        (self.job, self.charged) = (self.job.wrapping_add(1), Duration::ZERO);
        self.release = self.release.saturating_add(self.period);
    }
}

/// One core.
pub struct Core {
    id: CoreId,
    order: MixedOrder,
    mode: Mode,
    clock: Clock,
    doing: OnCore,
    /// By place, in the order of task numbers.
    pub(super) tasks: Vec<TaskState>,
    /// Each task's next release.
    pub(super) releases: Heap,
    /// The tasks with unfinished jobs.
    pub(super) ready: IndexedHeap,
    /// How it changes while it runs.
    pub(super) changes: Option<Box<Changes>>,
    /// From when on changes have to be looked at: the time of the next one, or always while one waits; and that time.
    pub(super) look: Instant,
    pub(super) next_change: Instant,
}

impl Core {
    pub(super) fn new(setup: &PolicyConfig, mixed: &Mixed, id: CoreId) -> Core {
        let all = setup.tasks.iter().zip(&mixed.tasks).enumerate();
        let mine: Vec<_> = all.filter(|(_, (task, _))| task.core == Some(id)).collect();
        let mut releases = Heap::with_capacity(mine.len());
        for (place, (_, (task, _))) in mine.iter().enumerate() {
            releases.push(Key::at(Instant::ZERO.saturating_add(task.offset), place));
        }
        let ready = IndexedHeap::for_tasks(mine.len());
        let tasks = mine.into_iter().map(|(n, (task, dual))| TaskState::new(TaskId(n as u16), task, dual)).collect();
        let (clock, doing) = (Clock::default(), OnCore::Nothing);
        let (mode, changes, never) = (Mode::Low, None, Instant::NEVER);
        let (look, next_change) = (never, never);
        Core { id, order: mixed.order, mode, clock, doing, tasks, releases, ready, changes, look, next_change }
    }

    pub(super) fn handle<S: Sink>(&mut self, now: Instant, event: Event, records: &mut S) -> Decision {
        let (now, elapsed) = self.clock.advance(now);
        let mut records = Recorder { sink: records, core: self.id, now };
        let unfinished = self.leave(elapsed, event, &mut records);
        let changing = self.look <= now;
        if changing {
            self.receive_requests(&mut records);
        }
        // What was released before now came while this core was busy, or the core has been in the LO mode all along.
        self.release_due(|time| time < now, &mut records);
        if self.mode == Mode::High && self.ready.peek().is_none() {
            self.mode = Mode::Low;
            records.sink.store(tactus_record::Stored::new(now, self.id, EventKind::Mode, Level::B as u8, (None, 0), 0));
        }
        if changing {
            self.decide_requests(&mut records);
        }
        let next = self.release_due(|time| time <= now, &mut records).min(self.next_change);
        let run = self.switch(unfinished, &mut records);
        let timer = match self.doing {
            OnCore::Job { place, .. } => {
                let task = &self.tasks[place];
                next.min(now.saturating_add(task.budget(self.mode).saturating_sub(task.charged)))
            }
            OnCore::Nothing | OnCore::Idle => next,
        };
        Decision { run, timer, notify: CoreSet::EMPTY, ticket: 0 }
    }

    /// Charges what ran, and does what the event says. Gives the job that could go on.
    fn leave<S: Sink>(
        &mut self,
        elapsed: Duration,
        event: Event,
        records: &mut Recorder<S>,
    ) -> Option<((TaskId, Level), u32)> {
        let OnCore::Job { place, job } = self.doing else { return None };
        let task = &mut self.tasks[place];
        task.charged = task.charged.checked_add(elapsed).unwrap_or(Duration::MAX);
        match event {
            Event::Complete => {
                records.job(EventKind::Complete, task.name, job, task.charged.as_nanos());
                task.end();
                self.queue(place);
                None
            }
            Event::Remove => {
                records.job(EventKind::Removed, task.name, job, 0);
                (task.removed, task.until, task.pending) = (true, Instant::ZERO, 0);
                self.queue(place);
                None
            }
            Event::Start
            | Event::Timer
            | Event::Notify
            | Event::Arrival
            | Event::Unlock
            | Event::Wait
            | Event::Lock
            | Event::Signal
            | Event::Slot => {
                if task.charged < task.budget(self.mode) {
                    return Some((task.name, job));
                }
                let name = task.name;
                if self.mode == Mode::Low && task.is_critical() && task.low < task.own {
                    self.give_up_others((name, job), records);
                }
                let task = &mut self.tasks[place];
                if task.charged < task.budget(self.mode) {
                    return Some((name, job));
                }
                drop_job(task, Dropped::Budget, records);
                self.queue(place);
                None
            }
        }
    }

    /// A critical job has used its LO time and is not finished.
    fn give_up_others<S: Sink>(&mut self, cause: ((TaskId, Level), u32), records: &mut Recorder<S>) {
        self.mode = Mode::High;
        records.job(EventKind::Mode, cause.0, cause.1, 0);
        for place in 0..self.tasks.len() {
            let task = &mut self.tasks[place];
            if task.pending == 0 {
                continue;
            }
            while !task.is_critical() && task.pending > 0 {
                drop_job(task, Dropped::Level, records);
            }
            // Critical ones have other deadlines from now on.
            self.queue(place);
        }
    }

    /// Brings a task's place in the ready queue up to date.
    pub(super) fn queue(&mut self, place: usize) {
        let task = &self.tasks[place];
        match task.pending {
            0 => self.ready.remove(place),
            _ => self.ready.insert(Key::new(task.urgency(self.order, self.mode), place)),
        }
    }

    /// Makes releases due, and gives the time of the next one.
    fn release_due<S: Sink>(&mut self, is_due: impl Fn(Instant) -> bool, records: &mut Recorder<S>) -> Instant {
        while let Some(due) = self.releases.peek() {
            if !is_due(due.time()) {
                return due.time();
            }
            let place = due.place();
            let task = &mut self.tasks[place];
            let next = due.time().saturating_add(task.period);
            let ended = due.time() >= task.until;
            if ended || next == Instant::NEVER {
                self.releases.pop();
            } else {
                self.releases.replace_first(Key::at(next, place));
            }
            if ended {
                continue;
            }
            let number = task.released;
            task.released = number.wrapping_add(1);
            records.job(EventKind::Release, task.name, number, due.time().as_nanos());
            task.begin(number, due.time());
            if self.mode == Mode::High && !task.is_critical() {
                drop_job(task, Dropped::Level, records);
            } else if task.pending == 1 {
                self.queue(place);
            }
        }
        Instant::NEVER
    }

    /// Turns to the most urgent job. `unfinished`: the one that ran until now and could go on.
    fn switch<S: Sink>(
        &mut self,
        unfinished: Option<((TaskId, Level), u32)>,
        records: &mut Recorder<S>,
    ) -> Option<Running> {
        let before = self.doing;
        let Some(place) = self.ready.peek().map(Key::place) else {
            if before != OnCore::Idle {
                records.core(EventKind::Idle, 0);
            }
            self.doing = OnCore::Idle;
            return None;
        };
        let task = &self.tasks[place];
        self.doing = OnCore::Job { place, job: task.job };
        if self.doing != before {
            if let Some((name, job)) = unfinished {
                records.job(EventKind::Preempt, name, job, 0);
            }
            records.job(EventKind::Dispatch, task.name, task.job, 0);
        }
        Some(Running { task: task.name.0, job: task.job, charged: task.charged, arrived: None })
    }
}

/// Ends the task's oldest job unfinished.
fn drop_job<S: Sink>(task: &mut TaskState, why: Dropped, records: &mut Recorder<S>) {
    records.job(EventKind::Dropped, task.name, task.job, why as u64);
    task.end();
}
