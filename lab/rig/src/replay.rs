//! Events from a trace of the kernel or the simulator: each processor of the rig does what the core of the trace did, in
//! the same order, while the others do theirs in parallel.
//!
//! A release makes a job ready, a used-up budget blocks it, a new budget makes it ready again, completion blocks it for
//! good. Of one job, and of jobs that use the same place in the rig's tables one after another, no event overtakes an
//! earlier one: a processor waits for its turn. The events of the trace have one order in which all of this holds, so
//! the wait always ends.

use crate::any_machine::AnyMachine;
use crate::machine::{Processor, PRIORITIES};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use tactus_compared_structures::queue::Entry;
use tactus_compared_structures::Cores;
use tactus_record::EventKind;
use tactus_time::{CoreId, Duration, Level, TaskId};
use tactus_trace::Trace;

/// What has to be known of a task beside the trace.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its relative deadline.
    pub deadline: Duration,
    /// Its level, if the policy knows levels.
    pub level: Option<Level>,
    /// The core that it is bound to, if any.
    pub core: Option<CoreId>,
}

/// The events of a trace, by core.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// By core: what happened there, in order.
    pub cores: Vec<Vec<Event>>,
    /// How many places the jobs need.
    pub places: usize,
    /// How many jobs became ready, counting again those that got a new budget.
    pub activations: u64,
    /// How many stopped being ready.
    pub blockings: u64,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The job's place in the rig's tables.
    pub place: u32,
    /// How many events of this place come before.
    pub turn: u32,
    /// What happens.
    pub what: What,
}

/// What happens to a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// It becomes ready.
    Activate {
        /// Its level, then its absolute deadline.
        urgency: u64,
        /// The same as one of 99 priorities.
        priority: u64,
        /// Where it may run.
        allowed: Cores,
    },
    /// It is no longer ready.
    Block,
}

/// Why a trace cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// It names a task that the system does not have.
    UnknownTask(u16),
    /// It lacks records.
    Incomplete(u64),
    /// Nothing was released in it.
    NoEvents,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::UnknownTask(task) => {
                write!(f, "the trace names task {task}, which the system lacks: take trace.bin and run.json of one run")
            }
            ReplayError::Incomplete(n) => write!(
                f,
                "{n} records of the trace did not fit and were dropped, so it does not tell what became of each job: run \
                 the system for a shorter time"
            ),
            ReplayError::NoEvents => write!(f, "nothing is released in the trace: there is nothing to replay"),
        }
    }
}

impl std::error::Error for ReplayError {}

impl Script {
    /// Reads the events out of a trace.
    ///
    /// # Errors
    /// If the trace is incomplete, empty, or of another system.
    pub fn of(trace: &Trace, tasks: &[About]) -> Result<Script, ReplayError> {
        let dropped: u64 = trace.dropped.iter().sum();
        if dropped > 0 {
            return Err(ReplayError::Incomplete(dropped));
        }
        // Among tasks of one level, the shorter the deadline, the greater the priority.
        let mut ranks: Vec<_> = tasks.iter().map(|task| (task.level, task.deadline)).collect();
        ranks.sort();
        ranks.dedup();
        let priority = |about: &About| {
            let rank = ranks.binary_search(&(about.level, about.deadline)).unwrap_or_default() as u64;
            (1 + rank * PRIORITIES / ranks.len().max(1) as u64).min(PRIORITIES)
        };
        let mut script = Script { cores: vec![Vec::new(); trace.cores.len()], ..Script::default() };
        let mut state = Reading::default();
        let mut unknown = None;
        tactus_trace::in_order(trace, |record| {
            let Some(task) = record.task else { return };
            let Some(about) = tasks.get(task.index()) else {
                unknown = Some(task.0);
                return;
            };
            let core = record.core.index();
            match record.kind {
                EventKind::Release => {
                    let deadline = record.arg.saturating_add(about.deadline.as_nanos()).min(u64::MAX >> 3);
                    let level = about.level.map_or(0, |level| level as u64);
                    let what = What::Activate {
                        urgency: level << 61 | deadline,
                        priority: priority(about),
                        allowed: about.core.map_or(Cores::ALL, |core| Cores::only(core.index())),
                    };
                    let place = state.new_place();
                    state.jobs.insert((task, record.job), (place, what, true));
                    script.add(&mut state, core, place, what);
                }
                EventKind::Exhausted => script.block(&mut state, core, (task, record.job)),
                EventKind::Complete => {
                    script.block(&mut state, core, (task, record.job));
                    state.end((task, record.job));
                }
                EventKind::Replenish => {
                    // Whatever of the task is out of budget goes on.
                    let waiting: Vec<_> =
                        state.of_task(task).filter(|(_, job)| !job.2).map(|(name, _)| *name).collect();
                    for name in waiting {
                        if let Some(job) = state.jobs.get_mut(&name) {
                            job.2 = true;
                            let (place, what, _) = *job;
                            script.add(&mut state, core, place, what);
                        }
                    }
                }
                EventKind::Removed => {
                    let all: Vec<_> = state.of_task(task).map(|(name, _)| *name).collect();
                    for name in all {
                        script.block(&mut state, core, name);
                        state.end(name);
                    }
                }
                _ => {}
            }
        });
        if let Some(task) = unknown {
            return Err(ReplayError::UnknownTask(task));
        }
        script.places = state.turns.len();
        if script.activations == 0 {
            return Err(ReplayError::NoEvents);
        }
        Ok(script)
    }

    /// How many events the core has that has most.
    pub fn longest(&self) -> u64 {
        self.cores.iter().map(|events| events.len() as u64).max().unwrap_or(0)
    }

    fn add(&mut self, state: &mut Reading, core: usize, place: u32, what: What) {
        let turn = &mut state.turns[place as usize];
        self.cores[core].push(Event { place, turn: *turn, what });
        *turn += 1;
        match what {
            What::Activate { .. } => self.activations += 1,
            What::Block => self.blockings += 1,
        }
    }

    /// The job is no longer ready, if it was.
    fn block(&mut self, state: &mut Reading, core: usize, name: (TaskId, u32)) {
        let Some(job) = state.jobs.get_mut(&name) else { return };
        if std::mem::replace(&mut job.2, false) {
            let place = job.0;
            self.add(state, core, place, What::Block);
        }
    }
}

/// What is known half-way through a trace.
#[derive(Default)]
struct Reading {
    /// Jobs that exist: their place, how they become ready, and whether they are.
    jobs: BTreeMap<(TaskId, u32), (u32, What, bool)>,
    free: Vec<u32>,
    /// By place: how many events it had.
    turns: Vec<u32>,
}

type Job = (u32, What, bool);

impl Reading {
    fn new_place(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.turns.push(0);
            self.turns.len() as u32 - 1
        })
    }
    fn of_task(&self, task: TaskId) -> impl Iterator<Item = (&(TaskId, u32), &Job)> {
        self.jobs.range((task, 0)..=(task, u32::MAX))
    }
    fn end(&mut self, name: (TaskId, u32)) {
        if let Some((place, ..)) = self.jobs.remove(&name) {
            self.free.push(place);
        }
    }
}

/// How far each place is, while a script is replayed.
pub(crate) struct Turns(Vec<AtomicU32>);

impl Turns {
    pub(crate) fn new(script: &Script) -> Turns {
        Turns((0..script.places).map(|_| AtomicU32::new(0)).collect())
    }

    /// Whether it is the event's turn.
    pub(crate) fn is_due(&self, event: &Event) -> bool {
        self.0[event.place as usize].load(Ordering::Acquire) == event.turn
    }

    /// Does an event whose turn it is.
    pub(crate) fn act(&self, machine: &dyn AnyMachine, processor: &mut Processor, event: &Event) {
        match event.what {
            What::Activate { urgency, priority, allowed } => {
                let urgency = if machine.tables().has_priorities() { priority } else { urgency };
                let entry = Entry { urgency, task: event.place };
                let allowed = allowed.and(Cores::below(machine.processors()));
                machine.on_activation(processor, entry, allowed, u64::MAX);
            }
            What::Block => {
                machine.on_block_of(processor, event.place);
            }
        }
        self.0[event.place as usize].store(event.turn + 1, Ordering::Release);
    }
}
