//! The order of criticality levels on each core.

use super::{Rule, Violation};
use crate::order::in_order;
use crate::{Trace, View};
use std::collections::{HashMap, HashSet};
use tactus_record::{EventKind, Record};
use tactus_time::{CoreId, Duration, Instant, Level, TaskId};

type Name = (TaskId, u32);

/// No core runs level C, level D or nothing while a level-B job of that core waits, and none runs level D or nothing
/// while a level-C job waits, for longer than `tolerance`: the time that the system needs to notice, and for level C
/// to tell another core.
///
/// A ghost that is selected at a level stands for the whole level: those that wait behind it wait rightly. Level A is
/// not judged here, since its jobs wait for their slots in a table that a trace does not hold.
pub fn level_order(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    if view.tasks.iter().all(|t| t.level.is_none()) {
        return Vec::new();
    }
    let mut walk = Walk {
        view,
        tolerance,
        cores: vec![Core::default(); trace.cores.len()],
        ready: HashSet::new(),
        counted: HashSet::new(),
        waiting: HashMap::new(),
        open: HashMap::new(),
        waiting_c: 0,
        found: Vec::new(),
    };
    let mut last = Instant::ZERO;
    in_order(trace, |r| {
        walk.step(r);
        last = last.max(r.time);
    });
    for core in 0..trace.cores.len() {
        walk.cores[core].ended = true;
        walk.look(CoreId(core as u8), last);
    }
    walk.found
}

#[derive(Clone, Default)]
struct Core {
    begun: bool,
    ended: bool,
    has: Option<(Name, Level)>,
    waiting_b: usize,
    ghosts: HashSet<(Name, Level)>,
    /// Since when level B, and level C, wait in vain, and the job that the core had latest in that time.
    since: [Option<(Instant, Option<Name>)>; 2],
}

struct Walk<'a> {
    view: &'a View,
    tolerance: Duration,
    cores: Vec<Core>,
    /// The jobs that wait for a core.
    ready: HashSet<Name>,
    /// The jobs that wait for a budget.
    waiting: HashMap<TaskId, Vec<u32>>,
    open: HashMap<TaskId, Vec<u32>>,
    /// The tasks that are counted as waiting for a core.
    counted: HashSet<TaskId>,
    waiting_c: usize,
    found: Vec<Violation>,
}

impl Walk<'_> {
    fn level(&self, task: TaskId) -> Option<Level> {
        self.view.tasks.get(task.index())?.level
    }

    fn step(&mut self, r: &Record) {
        if r.core.index() >= self.cores.len() {
            return;
        }
        let core = r.core.index();
        match (r.kind, r.task) {
            (EventKind::End, _) => self.cores[core].ended = true,
            (EventKind::Idle, _) => {
                self.cores[core].begun = true;
                self.cores[core].has = None;
            }
            (kind, Some(task)) if kind.is_policy() => {
                let Some(level) = self.level(task) else { return };
                self.cores[core].begun = true;
                self.job_step(r, task, level);
                self.recount(task, level);
            }
            _ => return,
        }
        for core in 0..self.cores.len() {
            self.look(CoreId(core as u8), r.time);
        }
    }

    fn job_step(&mut self, r: &Record, task: TaskId, level: Level) {
        let (core, name) = (r.core.index(), (task, r.job));
        match r.kind {
            EventKind::Release => {
                self.open.entry(task).or_default().push(r.job);
                self.ready.insert(name);
            }
            EventKind::Dispatch => {
                self.ready.remove(&name);
                self.cores[core].has = Some((name, level));
            }
            EventKind::Preempt | EventKind::Exhausted | EventKind::Complete | EventKind::Dropped => {
                // A used-up budget alone does not take the core away: the next one may be there already.
                if r.kind != EventKind::Exhausted && self.cores[core].has.is_some_and(|h| h.0 == name) {
                    self.cores[core].has = None;
                }
                let no_budget = self.waiting.get(&task).is_some_and(|jobs| jobs.contains(&r.job));
                match r.kind {
                    EventKind::Preempt if !no_budget => {
                        self.ready.insert(name);
                    }
                    EventKind::Exhausted => {
                        self.ready.remove(&name);
                        self.waiting.entry(task).or_default().push(r.job);
                    }
                    EventKind::Complete | EventKind::Dropped => {
                        self.ready.remove(&name);
                        if let Some(open) = self.open.get_mut(&task) {
                            open.retain(|j| *j != r.job);
                        }
                    }
                    _ => {}
                }
            }
            EventKind::Replenish => {
                for job in self.waiting.remove(&task).unwrap_or_default() {
                    if !self.cores.iter().any(|core| core.has.is_some_and(|h| h.0 == (task, job))) {
                        self.ready.insert((task, job));
                    }
                }
            }
            EventKind::GhostBegin => {
                self.cores[core].ghosts.insert((name, level));
            }
            EventKind::GhostEnd => {
                self.cores[core].ghosts.remove(&(name, level));
            }
            EventKind::Removed => {
                self.waiting.remove(&task);
                for job in self.open.remove(&task).unwrap_or_default() {
                    self.ready.remove(&(task, job));
                }
                for core in &mut self.cores {
                    core.ghosts.retain(|g| g.0 .0 != task);
                    if core.has.is_some_and(|h| h.0 .0 == task) {
                        core.has = None;
                    }
                }
            }
            _ => {}
        }
    }

    /// Notes whether the task waits for a core. Its jobs follow one another, so it does if the first of
    /// those that are not done does.
    fn recount(&mut self, task: TaskId, level: Level) {
        let first = self.open.get(&task).and_then(|jobs| jobs.first());
        let waits = first.is_some_and(|job| self.ready.contains(&(task, *job)));
        let changed = if waits { self.counted.insert(task) } else { self.counted.remove(&task) };
        if !changed {
            return;
        }
        let count = match (level, self.view.tasks[task.index()].core) {
            (Level::B, Some(core)) => match self.cores.get_mut(core.index()) {
                Some(core) => &mut core.waiting_b,
                None => return,
            },
            (Level::C, _) => &mut self.waiting_c,
            _ => return,
        };
        // It was counted up before it is counted down.
        *count = if waits { *count + 1 } else { *count - 1 };
    }

    /// Notes since when a core ignores a level, and tells when that is over and was too long.
    fn look(&mut self, id: CoreId, now: Instant) {
        let core = &mut self.cores[id.index()];
        let runs = core.has.map_or(Level::D, |h| h.1);
        let on = core.begun && !core.ended;
        let haunted = |level| core.ghosts.iter().any(|g| g.1 == level);
        let ignored = [
            on && core.waiting_b > 0 && runs > Level::B && !haunted(Level::B),
            on && self.waiting_c > 0 && runs > Level::C && !haunted(Level::C),
        ];
        for (i, level) in [Level::B, Level::C].into_iter().enumerate() {
            let has = core.has.map(|h| h.0);
            match (core.since[i], ignored[i]) {
                (None, true) => core.since[i] = Some((now, has)),
                (Some((since, had)), true) => core.since[i] = Some((since, has.or(had))),
                (Some((since, runs)), false) => {
                    core.since[i] = None;
                    if now.since(since) > self.tolerance {
                        self.found.push(Violation {
                            rule: Rule::LevelOrder,
                            time: since,
                            core: id,
                            task: runs.map(|n| n.0),
                            job: runs.map(|n| n.1),
                            text: format!("from {since} to {now} a job of level {level} waited while core {id} ran nothing as critical"),
                        });
                    }
                }
                _ => {}
            }
        }
    }
}
