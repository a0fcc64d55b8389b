//! Partitioned rate-monotonic and EDF: each core schedules its own tasks (Liu and Layland 1973) and knows of no other.
//!
//! The ready queue holds every task with a pending job, the running one included, so that what runs is always its
//! first entry: a preemption moves nothing, and a completion is one step down the heap.

use crate::heap::{Heap, Key};
use crate::jobs::{Jobs, Rule};
use crate::records::{Clock, OnCore, Recorder};
use crate::{check, Decision, Event, Policy, Running, Setup, SetupError};
use alloc::vec::Vec;
use core::marker::PhantomData;
use tactus_record::{Kind, Sink};
use tactus_time::{CoreId, CoreSet, Instant, TaskId};

/// What the cores share: nothing.
pub(crate) struct Partitioned<R>(PhantomData<fn(R)>);

/// One core's tasks and queues.
pub(crate) struct Core<R> {
    id: CoreId,
    rule: PhantomData<fn(R)>,
    clock: Clock,
    on_core: OnCore,
    /// By place; places are in the order of task numbers, so that a tie between places is one between numbers.
    tasks: Vec<Jobs>,
    /// Each task's next release.
    releases: Heap,
    /// Each task's oldest unfinished job.
    ready: Heap,
}

impl<R: Rule> Partitioned<R> {
    /// Every task needs a core.
    pub(crate) fn check(setup: &Setup) -> Result<(), SetupError> {
        check::cores_of_tasks(setup, |_| true)
    }

    /// Makes all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &Setup) -> (Self, Vec<Core<R>>) {
        (Partitioned(PhantomData), (0..setup.cores).map(|core| Core::new(setup, CoreId(core as u8))).collect())
    }
}

impl<R: Rule> Policy for Partitioned<R> {
    type Core = Core<R>;

    #[inline]
    fn handle(&self, core: &mut Core<R>, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
        core.handle(now, event, records)
    }
}

impl<R: Rule> Core<R> {
    fn new(setup: &Setup, id: CoreId) -> Core<R> {
        let mine = || setup.tasks.iter().enumerate().filter(|(_, task)| task.core == Some(id));
        let tasks: Vec<Jobs> = mine().map(|(number, task)| Jobs::new(TaskId(number as u16), task)).collect();
        let mut releases = Heap::with_capacity(tasks.len());
        for (place, (_, task)) in mine().enumerate() {
            releases.push(Key::at(Instant::ZERO.saturating_add(task.offset), place));
        }
        let ready = Heap::with_capacity(tasks.len());
        Core { id, rule: PhantomData, clock: Clock::default(), on_core: OnCore::Nothing, tasks, releases, ready }
    }

    fn handle(&mut self, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
        let (now, elapsed) = self.clock.advance(now);
        let mut records = Recorder { sink: records, core: self.id, now };
        let mut unfinished = None;
        if let OnCore::Job { place, job } = self.on_core {
            let task = &mut self.tasks[place];
            task.charge(elapsed);
            match event {
                Event::Complete => {
                    records.job(Kind::Complete, task.name(), job, task.charged().as_nanos());
                    if task.complete() {
                        self.ready.replace_first(task.key::<R>(place));
                    } else {
                        self.ready.pop();
                    }
                }
                Event::Remove => {
                    records.job(Kind::Removed, task.name(), job, 0);
                    task.remove();
                    self.ready.pop();
                }
                Event::Start | Event::Timer | Event::Notify => unfinished = Some((place, job)),
            }
        }
        self.release_due(&mut records);
        let run = self.switch(unfinished, &mut records);
        let timer = self.releases.peek().map_or(Instant::NEVER, Key::time);
        Decision { run, timer, notify: CoreSet::EMPTY, ticket: 0 }
    }

    #[inline]
    fn release_due(&mut self, records: &mut Recorder) {
        while let Some(due) = self.releases.peek() {
            if due.time() > records.now {
                break;
            }
            let place = due.place();
            let task = &mut self.tasks[place];
            let next = if task.removed() { None } else { task.next_release(due.time()) };
            match next {
                Some(next) => self.releases.replace_first(Key::at(next, place)),
                None => {
                    self.releases.pop();
                }
            }
            if task.removed() {
                continue;
            }
            let (job, first) = task.release();
            records.job(Kind::Release, task.name(), job, due.time().as_nanos());
            if first {
                self.ready.push(task.key::<R>(place));
            }
        }
    }

    /// Turns to the most urgent job. `unfinished`: what ran until now and could go on.
    #[inline]
    fn switch(&mut self, unfinished: Option<(usize, u32)>, records: &mut Recorder) -> Option<Running> {
        let chosen = self.ready.peek().map(|key| (key.place(), self.tasks[key.place()].job()));
        if chosen != unfinished || chosen.is_none() {
            if let Some((place, job)) = unfinished {
                records.job(Kind::Preempt, self.tasks[place].name(), job, 0);
            }
            match chosen {
                Some((place, job)) => {
                    records.job(Kind::Dispatch, self.tasks[place].name(), job, 0);
                    self.on_core = OnCore::Job { place, job };
                }
                None => {
                    if self.on_core != OnCore::Idle {
                        records.core(Kind::Idle, 0);
                    }
                    self.on_core = OnCore::Idle;
                }
            }
        }
        chosen.map(|(place, job)| {
            let task = &self.tasks[place];
            Running { task: task.name().0, job, charged: task.charged() }
        })
    }
}
