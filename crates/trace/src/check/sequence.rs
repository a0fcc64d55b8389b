//! The life of a job, step by step.

use super::{Rule, Violation};
use crate::jobs::UNLOADED;
use crate::order::in_order;
use crate::Trace;
use std::collections::HashMap;
use tactus_record::{EventKind, Record, SlotSwitch};
use tactus_time::{CoreId, Instant, TaskId};

type Name = (TaskId, u32);

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// Taken off its core at this time, by this core.
    Preempted(Instant, CoreId),
    Running(CoreId),
    /// Without budget since this time.
    Waiting(Instant),
    /// It waits until then by its own wish.
    Asleep(u64),
    Done,
}

/// Every job is released once, has a core only between dispatch and the next preemption, completion or end of its
/// budget, and goes on after that only if something is left to do and budget to do it with; every core has one job
/// at most, and has the one that its scheduler says it has.
pub fn sequence(trace: &Trace) -> Vec<Violation> {
    let mut walk = Walk {
        jobs: HashMap::new(),
        cores: vec![None; trace.cores.len()],
        open: HashMap::new(),
        completed: HashMap::new(),
        gone: vec![Vec::new(); trace.cores.len()],
        found: Vec::new(),
    };
    in_order(trace, |r| walk.step(r));
    walk.found
}

struct Walk {
    jobs: HashMap<Name, State>,
    /// The job that each core has.
    cores: Vec<Option<Name>>,
    /// The jobs of each task that are not done.
    open: HashMap<TaskId, Vec<u32>>,
    /// When and where a job of the task was last completed.
    completed: HashMap<TaskId, (Instant, CoreId)>,
    /// On each core, in the decision under way: the jobs that ran and were dropped with their program.
    gone: Vec<Vec<Record>>,
    found: Vec<Violation>,
}

impl Walk {
    fn wrong(&mut self, r: &Record, text: String) {
        self.found.push(Violation {
            rule: Rule::Sequence,
            time: r.time,
            core: r.core,
            task: r.task,
            job: r.task.map(|_| r.job),
            text,
        });
    }

    fn step(&mut self, r: &Record) {
        let Some(has) = self.cores.get(r.core.index()).copied() else {
            return self.wrong(r, format!("core {} does not exist", r.core));
        };
        match r.kind {
            // A version that gives way goes in the middle of a job, if that one is late.
            EventKind::SlotSwitched if SlotSwitch::from_u8(r.level).is_some_and(SlotSwitch::is_back) => {
                self.gone[r.core.index()].retain(|gone| gone.time != r.time);
            }
            EventKind::Leave => {
                for gone in std::mem::take(&mut self.gone[r.core.index()]) {
                    self.wrong(&gone, "is dropped with its program while it runs, and no update ends".into());
                }
            }
            _ => {}
        }
        let Some(task) = r.task else {
            match r.kind {
                EventKind::Idle | EventKind::Leave if has.is_some_and(|h| !self.without_budget(h, r.time)) => {
                    self.wrong(r, "the core is left with nothing to run while it has a job".into());
                    self.cores[r.core.index()] = None;
                }
                EventKind::Idle | EventKind::Leave => self.cores[r.core.index()] = None,
                _ => {}
            }
            return;
        };
        let name = (task, r.job);
        match r.kind {
            EventKind::Release => {
                if self.jobs.insert(name, State::Ready).is_some() {
                    self.wrong(r, "is released a second time".into());
                }
                self.open.entry(task).or_default().push(r.job);
            }
            EventKind::Dispatch => self.dispatch(r, name, has),
            EventKind::Preempt => {
                match self.jobs.get(&name) {
                    Some(State::Running(core)) if *core == r.core => {
                        self.jobs.insert(name, State::Preempted(r.time, r.core));
                    }
                    // A budget that is used up may be written before or after the loss of the core that comes of it.
                    Some(State::Waiting(since)) if *since == r.time => {}
                    _ => self.wrong(r, "is preempted where it does not run".into()),
                }
                self.leave(r.core, name);
            }
            EventKind::Wait => {
                match self.jobs.get(&name) {
                    Some(State::Running(core)) if *core == r.core => {}
                    _ => self.wrong(r, "waits where it does not run".into()),
                }
                self.jobs.insert(name, State::Asleep(r.arg));
                self.leave(r.core, name);
            }
            EventKind::Wake => {
                match self.jobs.get(&name) {
                    // What waits for an event waits for no time.
                    Some(State::Asleep(until))
                        if r.arg == *until && (r.time.as_nanos() >= *until || *until == u64::MAX) => {}
                    _ => self.wrong(r, "wakes where it does not wait".into()),
                }
                self.jobs.insert(name, State::Ready);
            }
            EventKind::Exhausted => {
                match self.jobs.get(&name) {
                    Some(State::Running(core)) if *core == r.core => {}
                    Some(State::Preempted(time, core)) if (*time, *core) == (r.time, r.core) => {}
                    // The job before it had used up its budget too.
                    Some(State::Ready) if self.completed.get(&task) == Some(&(r.time, r.core)) => {}
                    _ => self.wrong(r, "uses up a budget where it does not run".into()),
                }
                // It keeps the core until something else is said: the next budget may be there already.
                self.jobs.insert(name, State::Waiting(r.time));
            }
            EventKind::Complete => {
                match self.jobs.get(&name) {
                    Some(State::Running(core)) if *core == r.core => {}
                    _ => self.wrong(r, "completes where it does not run".into()),
                }
                self.completed.insert(task, (r.time, r.core));
                self.done(name);
                self.leave(r.core, name);
            }
            EventKind::Untold => {
                match self.jobs.get(&name) {
                    None => self.wrong(r, "ends before its release".into()),
                    Some(State::Done) => self.wrong(r, "ends a second time".into()),
                    Some(_) => {}
                }
                self.done(name);
                self.leave(r.core, name);
            }
            EventKind::Dropped if r.arg == UNLOADED => {
                let waits =
                    matches!(self.jobs.get(&name), Some(State::Ready | State::Preempted(..) | State::Asleep(_)));
                let runs = matches!(self.jobs.get(&name), Some(State::Running(core)) if *core == r.core);
                if runs {
                    self.gone[r.core.index()].push(*r);
                    self.leave(r.core, name);
                } else if !waits {
                    self.wrong(r, "is dropped with its program where it neither waits for a core nor runs".into());
                }
                for job in self.open.remove(&task).unwrap_or_default() {
                    self.jobs.insert((task, job), State::Done);
                }
            }
            EventKind::Dropped => {
                match self.jobs.get(&name) {
                    None => self.wrong(r, "is given up before its release".into()),
                    Some(State::Done) => self.wrong(r, "is given up after its end".into()),
                    Some(State::Running(core)) if *core != r.core => {
                        let text = format!("is given up while core {core} has it");
                        self.wrong(r, text);
                    }
                    // Left out at its release (0), or ended later, wherever it was.
                    Some(state) if r.arg != 0 || *state == State::Ready => {}
                    Some(_) => self.wrong(r, "is left out at its release although it began".into()),
                }
                self.done(name);
                self.leave(r.core, name);
            }
            EventKind::Replenish => {
                for job in self.open.get(&task).into_iter().flatten() {
                    if let Some(state @ State::Waiting(_)) = self.jobs.get_mut(&(task, *job)) {
                        let on = self.cores.iter().position(|has| *has == Some((task, *job)));
                        *state = on.map_or(State::Ready, |core| State::Running(CoreId(core as u8)));
                    }
                }
            }
            EventKind::GhostBegin if self.jobs.get(&name) != Some(&State::Done) => {
                self.wrong(r, "becomes a ghost before it is finished".into());
            }
            EventKind::Removed => {
                for job in self.open.remove(&task).unwrap_or_default() {
                    self.jobs.insert((task, job), State::Done);
                }
                for core in &mut self.cores {
                    if core.is_some_and(|(t, _)| t == task) {
                        *core = None;
                    }
                }
            }
            EventKind::Leave if matches!(self.jobs.get(&name), Some(State::Waiting(_))) => {
                self.wrong(r, "goes on without budget".into());
            }
            EventKind::Leave if has != Some(name) => {
                self.wrong(r, "is given the core by the scheduler without having been dispatched there".into());
                // Told once: from here on the scheduler's word counts.
                self.cores[r.core.index()] = Some(name);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, r: &Record, name: Name, has: Option<Name>) {
        match self.jobs.get(&name) {
            Some(State::Ready | State::Preempted(..)) => {}
            Some(State::Running(core)) if *core == r.core => {}
            Some(State::Running(core)) => self.wrong(r, format!("is dispatched while core {core} has it")),
            Some(State::Waiting(_)) => self.wrong(r, "is dispatched without budget".into()),
            Some(State::Asleep(_)) => self.wrong(r, "is dispatched while it waits".into()),
            Some(State::Done) => self.wrong(r, "is dispatched after its end".into()),
            None => self.wrong(r, "is dispatched before its release".into()),
        }
        if has.is_some_and(|h| h != name && !self.without_budget(h, r.time)) {
            self.wrong(r, "is dispatched on a core that has another job".into());
        }
        self.jobs.insert(name, State::Running(r.core));
        self.cores[r.core.index()] = Some(name);
    }

    /// Whether the job has just used up its budget, so that its core is free.
    fn without_budget(&self, name: Name, now: Instant) -> bool {
        self.jobs.get(&name) == Some(&State::Waiting(now))
    }

    fn leave(&mut self, core: CoreId, name: Name) {
        if self.cores[core.index()] == Some(name) {
            self.cores[core.index()] = None;
        }
    }

    fn done(&mut self, name: Name) {
        self.jobs.insert(name, State::Done);
        if let Some(open) = self.open.get_mut(&name.0) {
            open.retain(|job| *job != name.1);
        }
    }
}
