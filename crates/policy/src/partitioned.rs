//! Partitioned rate-monotonic and EDF: each core schedules its own tasks (Liu and Layland 1973) and knows of no other.
//!
//! The ready queue holds every task with a pending job, the running one included, so that what runs is always its
//! first entry: a preemption moves nothing, and a completion is one step down the heap.

use crate::heap::{Heap, Key};
use crate::jobs::{Jobs, Rule};
use crate::records::{Clock, OnCore, Recorder};
use crate::{Decision, Event, Running, Setup};
use alloc::vec::Vec;
use tactus_record::{Kind, Sink};
use tactus_time::{CoreId, CoreSet, Instant, TaskId};

/// One core's tasks and queues.
pub(crate) struct Core {
    id: CoreId,
    rule: Rule,
    clock: Clock,
    on_core: OnCore,
    /// By place; places are in the order of task numbers, so that a tie between places is one between numbers.
    tasks: Vec<Jobs>,
    /// Each task's next release.
    releases: Heap,
    /// Each task's oldest unfinished job.
    ready: Heap,
}

/// Makes all cores. The set-up must have been checked.
pub(crate) fn cores(setup: &Setup, rule: Rule) -> Vec<Core> {
    (0..setup.cores).map(|core| Core::new(setup, rule, CoreId(core as u8))).collect()
}

impl Core {
    fn new(setup: &Setup, rule: Rule, id: CoreId) -> Core {
        let mine = || setup.tasks.iter().enumerate().filter(|(_, task)| task.core == Some(id));
        let tasks: Vec<Jobs> = mine().map(|(number, task)| Jobs::new(TaskId(number as u16), task)).collect();
        let mut releases = Heap::with_capacity(tasks.len());
        for (place, (_, task)) in mine().enumerate() {
            releases.push(Key::at(Instant::ZERO.saturating_add(task.offset), place));
        }
        let ready = Heap::with_capacity(tasks.len());
        Core { id, rule, clock: Clock::default(), on_core: OnCore::Nothing, tasks, releases, ready }
    }

    pub(crate) fn handle(&mut self, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
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
                        self.ready.replace_first(task.key(self.rule, place));
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
                self.ready.push(task.key(self.rule, place));
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
