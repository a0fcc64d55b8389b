//! Partitioned rate-monotonic and EDF: each core schedules its own tasks (Liu and Layland 1973) and knows of no other.
//!
//! The ready queue holds every task with a pending job, the running one included, so that what runs is always its
//! first entry: a preemption moves nothing.
//!
//! A decision here is short enough for every instruction to count: it is compiled into its caller, and looks at each
//! task concerned once.

use crate::heap::{Key, Ready};
use crate::jobs::{Jobs, Rule};
use crate::records::{Clock, Recorder};
use crate::releases::Releases;
use crate::{check, Decision, Event, Policy, PolicyConfig, PolicyConfigError, Running};
use alloc::vec::Vec;
use core::marker::PhantomData;
use tactus_record::{EventKind, Sink, Subject};
use tactus_time::{CoreId, CoreSet, Duration, Instant};

/// What the cores share: nothing.
pub struct Partitioned<R>(PhantomData<fn(R)>);

/// One core's tasks and queues.
pub struct Core<R> {
    id: CoreId,
    rule: PhantomData<fn(R)>,
    clock: Clock,
    /// The place of the task whose job the core runs; [`NOTHING`] or [`IDLE`] if there is none.
    runs: usize,
    /// The number of that job.
    job: u32,
    /// By place; places are in the order of task numbers, so that a tie between places is one between numbers.
    tasks: Vec<Jobs>,
    /// Each task's next release.
    releases: Releases,
    /// Each task's oldest unfinished job.
    ready: Ready,
}

/// Stands in [`Core::runs`] for a core that has not been told anything yet. No task has this place.
const NOTHING: usize = usize::MAX;
/// The same for one that is idle.
const IDLE: usize = usize::MAX - 1;

impl<R: Rule> Partitioned<R> {
    /// Every task needs a core.
    pub(crate) fn check(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
        check::priorities(setup)?;
        check::cores_of_tasks(setup, |_| true)
    }

    /// Makes all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &PolicyConfig) -> (Self, Vec<Core<R>>) {
        (Partitioned(PhantomData), (0..setup.cores).map(|core| Core::new(setup, CoreId(core as u8))).collect())
    }
}

impl<R: Rule> Policy for Partitioned<R> {
    type Core = Core<R>;

    const EXPIRES: bool = true;

    #[inline(always)]
    fn handle<S: Sink>(&self, core: &mut Core<R>, now: Instant, event: Event, records: &mut S) -> Decision {
        core.handle(now, event, records)
    }

    #[inline(always)]
    fn expire<S: Sink>(&self, core: &mut Core<R>, now: Instant, records: &mut S) -> Option<Decision> {
        core.expire(now, records)
    }
}

impl<R: Rule> Core<R> {
    fn new(setup: &PolicyConfig, id: CoreId) -> Core<R> {
        let mine = || setup.tasks.iter().enumerate().filter(|(_, task)| task.core == Some(id));
        let tasks: Vec<Jobs> = mine().map(|(number, _)| Jobs::new(setup, number)).collect();
        let apart = mine().map(|(_, task)| task.offset.max(task.period)).max().unwrap_or_default();
        let mut releases = Releases::with_capacity(tasks.len(), apart);
        for (place, (_, task)) in mine().enumerate() {
            releases.push(Key::at(Instant::ZERO.saturating_add(task.offset), place));
        }
        let ready = Ready::with_capacity(tasks.len());
        let (clock, rule) = (Clock::default(), PhantomData);
        Core { id, rule, clock, runs: NOTHING, job: 0, tasks, releases, ready }
    }

    #[inline(always)]
    fn handle<S: Sink>(&mut self, now: Instant, event: Event, records: &mut S) -> Decision {
        if event == Event::Complete {
            if let Some(decision) = self.complete_alone(now, records) {
                return decision;
            }
        }
        self.handle_any(now, event, records)
    }

    /// The long way, which needs nothing to be as it mostly is.
    #[inline(never)]
    fn handle_any<S: Sink>(&mut self, now: Instant, event: Event, records: &mut S) -> Decision {
        self.releases.settle();
        let (now, elapsed) = self.clock.advance(now);
        let mut records = Recorder { sink: records, core: self.id, now };
        let mut unfinished = None;
        if let Some(task) = self.tasks.get_mut(self.runs) {
            task.charge(elapsed);
            match event {
                Event::Complete => {
                    records.about(EventKind::Complete, task.subject(), self.job, task.charged().as_nanos());
                    if task.complete() {
                        self.ready.replace_first(task.key::<R>(self.runs));
                    } else {
                        self.ready.pop();
                    }
                }
                Event::Remove => {
                    records.about(EventKind::Removed, task.subject(), self.job, 0);
                    task.remove();
                    self.ready.pop();
                }
                Event::Start
                | Event::Timer
                | Event::Notify
                | Event::Arrival
                | Event::Unlock
                | Event::Wait
                | Event::Lock
                | Event::Signal
                | Event::Slot => unfinished = Some(task.subject()),
            }
        }
        let timer = self.release_due(&mut records);
        let run = self.switch(unfinished, &mut records);
        Decision { run, timer, notify: CoreSet::EMPTY, ticket: 0 }
    }

    /// The job is complete, its task has no other, and no release is due: nearly all completions. The queue of releases is put
    /// in order here, so that the next release finds it so.
    #[inline(always)]
    fn complete_alone<S: Sink>(&mut self, now: Instant, records: &mut S) -> Option<Decision> {
        let timer = self.releases.next();
        let task = self.tasks.get_mut(self.runs)?;
        if timer <= now || !task.has_one_job() {
            return None;
        }
        task.charge(self.clock.try_advance(now)?);
        let mut records = Recorder { sink: records, core: self.id, now };
        records.about(EventKind::Complete, task.subject(), self.job, task.charged().as_nanos());
        task.complete_alone();
        self.ready.pop();
        let run = match self.ready.peek().and_then(|chosen| Some((chosen.place(), self.tasks.get(chosen.place())?))) {
            Some((place, task)) => {
                (self.runs, self.job) = (place, task.job());
                records.about(EventKind::Dispatch, task.subject(), self.job, 0);
                Some(Running { task: task.id(), job: self.job, charged: task.charged(), arrived: None })
            }
            None => {
                records.core(EventKind::Idle, 0);
                self.runs = IDLE;
                None
            }
        };
        self.releases.settle();
        Some(Decision { run, timer, notify: CoreSet::EMPTY, ticket: 0 })
    }

    /// One job is due, of a task that has no other: nearly all that timers are set for. The queue of releases is put in
    /// order later, when the core has time for it.
    #[inline(always)]
    fn expire<S: Sink>(&mut self, now: Instant, records: &mut S) -> Option<Decision> {
        self.releases.settle();
        let due = self.releases.first();
        let place = due.place();
        let task = self.tasks.get_mut(place)?;
        let next = task.next_release_if_alone(due.time())?;
        let timer = self.releases.second().min(next);
        if due.time() > now || timer <= now {
            return None;
        }
        let elapsed = self.clock.try_advance(now)?;
        let (subject, id) = (task.subject(), task.id());
        let job = task.release_alone();
        let key = task.key::<R>(place);
        let mut records = Recorder { sink: records, core: self.id, now };
        records.about(EventKind::Release, subject, job, due.time().as_nanos());
        self.releases.replace_first_later(Key::at(next, place));
        let run = match self.tasks.get_mut(self.runs) {
            Some(running) => {
                running.charge(elapsed);
                if !self.ready.goes_first(key) {
                    // Nobody who waits became more urgent than the job that runs.
                    let run = Running { task: running.id(), job: self.job, charged: running.charged(), arrived: None };
                    self.ready.push(key);
                    return Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 });
                }
                records.about(EventKind::Preempt, running.subject(), self.job, 0);
                Running { task: id, job, charged: Duration::ZERO, arrived: None }
            }
            None => Running { task: id, job, charged: Duration::ZERO, arrived: None },
        };
        self.ready.push_first(key);
        records.about(EventKind::Dispatch, subject, job, 0);
        (self.runs, self.job) = (place, job);
        Some(Decision { run: Some(run), timer, notify: CoreSet::EMPTY, ticket: 0 })
    }

    /// Releases all that is due, and gives the time of the next release.
    #[inline(always)]
    fn release_due<S: Sink>(&mut self, records: &mut Recorder<S>) -> Instant {
        while let Some(due) = self.releases.peek() {
            if due.time() > records.now {
                return due.time();
            }
            let place = due.place();
            let task = &mut self.tasks[place];
            match task.next_release(due.time()) {
                Some(next) if !task.removed() => self.releases.replace_first(Key::at(next, place)),
                _ => {
                    self.releases.pop();
                }
            }
            if task.removed() {
                continue;
            }
            let (job, first) = task.release();
            records.about(EventKind::Release, task.subject(), job, due.time().as_nanos());
            if first {
                self.ready.push(task.key::<R>(place));
            }
        }
        Instant::NEVER
    }

    /// Turns to the most urgent job. `unfinished`: whose job ran until now and could go on.
    #[inline(always)]
    fn switch<S: Sink>(&mut self, unfinished: Option<Subject>, records: &mut Recorder<S>) -> Option<Running> {
        let Some(chosen) = self.ready.peek() else {
            // Nothing that could go on is ever missing from the ready queue.
            if self.runs != IDLE {
                records.core(EventKind::Idle, 0);
            }
            self.runs = IDLE;
            return None;
        };
        let (before, place) = (self.runs, chosen.place());
        let task = &self.tasks[place];
        let job = task.job();
        // The task's next job has another number than the one that is finished.
        if place != before || job != self.job {
            if let Some(subject) = unfinished {
                records.about(EventKind::Preempt, subject, self.job, 0);
            }
            records.about(EventKind::Dispatch, task.subject(), job, 0);
            (self.runs, self.job) = (place, job);
        }
        Some(Running { task: task.id(), job, charged: task.charged(), arrived: None })
    }
}
