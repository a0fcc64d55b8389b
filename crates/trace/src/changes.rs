//! Changes of the running system as the judge sees them: what was promised when, and the rules that hold through them.
//!
//! Each core goes through its own changes. The records on a core tell when each took effect; from then on the tasks of that
//! core have the periods, deadlines and promises that admission worked out for it. A job belongs to what held at its release. One
//! that is under way when a change takes effect has the weaker promise of both.

use crate::check::{Bound, Rule, Violation};
use crate::schedule::{schedule_with, Boundary};
use crate::{ChangeSummary, Fate, Promise, SegmentKind, Trace, View};
use tactus_record::{Kind, CHANGE_NOT_ADMITTED};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// What a system is at its start, and what is to become of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Each task at the start, by `TaskId`.
    pub start: Vec<Now>,
    /// Each server of the tree at the start, by its place: budget and period if it is there.
    pub servers: Vec<Option<(Duration, Duration)>>,
    /// The changes by their numbers.
    pub list: Vec<ChangeView>,
}

/// A task between two changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// It releases jobs.
    pub there: bool,
    /// Its period.
    pub period: Duration,
    /// Its relative deadline.
    pub deadline: Duration,
    /// What is promised.
    pub promise: Promise,
}

/// A change and what is so after it, with those that were admitted before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeView {
    /// In words.
    pub what: String,
    /// The core on which it is made.
    pub core: CoreId,
    /// When it is asked for.
    pub at: Duration,
    /// Why admission refused it; nothing if it was admitted.
    pub refused: Option<String>,
    /// Each task.
    pub tasks: Vec<Now>,
    /// Each server.
    pub servers: Vec<Option<(Duration, Duration)>>,
}

impl View {
    /// What is promised for the task whatever changes take effect while it is there: the weakest of all its promises.
    pub fn weakest_promise(&self, task: usize) -> Promise {
        let Some(changes) = &self.changes else { return self.tasks[task].promise };
        let stages = std::iter::once(&changes.start).chain(changes.list.iter().map(|change| &change.tasks));
        let there = stages.filter_map(|stage| stage.get(task)).filter(|now| now.there).map(|now| now.promise);
        there.reduce(weaker).unwrap_or(Promise::None)
    }
}

/// When what took effect on each core.
pub(crate) struct History<'v> {
    changes: Option<&'v Changes>,
    /// Per core: when, and which change; nothing for one that should have taken effect and was refused.
    cores: Vec<Vec<(Instant, Option<usize>)>>,
}

impl<'v> History<'v> {
    pub(crate) fn of(view: &'v View, trace: &Trace) -> History<'v> {
        let effects = |records: &Vec<tactus_record::Record>| {
            let effect = |r: &tactus_record::Record| match r.kind {
                Kind::Changed => Some((r.time, Some(r.job as usize))),
                Kind::ChangeRefused if r.arg != CHANGE_NOT_ADMITTED => Some((r.time, None)),
                _ => None,
            };
            records.iter().filter_map(effect).collect()
        };
        let cores = if view.changes.is_some() { trace.cores.iter().map(effects).collect() } else { Vec::new() };
        History { changes: view.changes.as_ref(), cores }
    }

    /// What the task is from one time to another, the times of changes themselves belonging to what comes after.
    fn between<'s>(
        &'s self,
        view: &'s View,
        task: TaskId,
        from: Instant,
        to: Instant,
    ) -> impl Iterator<Item = Now> + 's {
        let changes = self.changes;
        let core = view.tasks.get(task.index()).and_then(|task| task.core).unwrap_or_default();
        let effects: &[(Instant, Option<usize>)] = self.cores.get(core.index()).map_or(&[], Vec::as_slice);
        let first = effects.partition_point(|(at, _)| *at <= from);
        let last = effects.partition_point(|(at, _)| *at < to).max(first);
        (first..=last).filter_map(move |n| {
            let changes = changes?;
            let start = changes.start.get(task.index()).copied()?;
            // What took effect last. After one that was refused against admission, nothing that it worked out holds.
            let spoilt = effects[..n].iter().any(|(_, change)| change.is_none());
            let now = effects[..n].iter().rev().find_map(|(_, change)| *change);
            let now = match now {
                None => start,
                Some(change) => changes.list.get(change)?.tasks.get(task.index()).copied()?,
            };
            Some(if spoilt { Now { promise: Promise::None, ..now } } else { now })
        })
    }

    /// Deadline and promise of a job that is under way from its release until the other time.
    pub(crate) fn owed(&self, view: &View, task: TaskId, release: Instant, until: Instant) -> (Duration, Promise) {
        let own = &view.tasks[task.index()];
        if self.changes.is_none() {
            return (own.deadline, own.promise);
        }
        let mut all = self.between(view, task, release, until);
        let Some(first) = all.next() else { return (own.deadline, Promise::None) };
        let promise = all.fold(first.promise, |weakest, now| weaker(weakest, now.promise));
        (first.deadline, promise)
    }

    /// What became of each change.
    pub(crate) fn summary(&self, trace: &Trace) -> Vec<ChangeSummary> {
        let Some(changes) = self.changes else { return Vec::new() };
        let records = || trace.cores.iter().flatten();
        let of = |n: usize, kind: Kind| records().find(|r| r.kind == kind && r.job as usize == n);
        let one = |(n, change): (usize, &ChangeView)| {
            let (took, refused) = (of(n, Kind::Changed), of(n, Kind::ChangeRefused));
            let fate = match (took, refused, of(n, Kind::ChangeAsked)) {
                (Some(_), ..) => Fate::TookEffect,
                (_, Some(_), _) => Fate::Refused,
                (.., Some(_)) => Fate::Waiting,
                _ => Fate::NotAsked,
            };
            let why = refused.map(|r| match (&change.refused, r.arg) {
                (Some(why), CHANGE_NOT_ADMITTED) => why.clone(),
                (None, CHANGE_NOT_ADMITTED) => "it was not admitted".into(),
                _ => "the core would have promised more than there is of it".into(),
            });
            ChangeSummary {
                what: change.what.clone(),
                core: change.core.0,
                asked: Instant::ZERO.saturating_add(change.at),
                fate,
                settled: took.or(refused).map(|r| r.time),
                why,
            }
        };
        changes.list.iter().enumerate().map(one).collect()
    }
}

/// The weaker of two promises: what both keep.
fn weaker(a: Promise, b: Promise) -> Promise {
    match (a, b) {
        (Promise::Response(a), Promise::Response(b)) => Promise::Response(a.max(b)),
        (Promise::Tardiness(a), Promise::Tardiness(b)) => Promise::Tardiness(a.max(b)),
        _ => Promise::None,
    }
}

/// What must hold through changes: releases come in the periods of their time, and from a change on; only what was admitted takes
/// effect, in order and not before it was asked for; and no server has more than its budget of the time.
pub fn changes(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let Some(changes) = &view.changes else { return Vec::new() };
    let mut found = Vec::new();
    for core in 0..trace.cores.len() {
        let mut walk = Walk { view, changes, core, found: Vec::new() };
        walk.order(trace);
        walk.releases(trace);
        walk.supply(trace, tolerance);
        found.append(&mut walk.found);
    }
    found
}

/// One core's records.
struct Walk<'v> {
    view: &'v View,
    changes: &'v Changes,
    core: usize,
    found: Vec<Violation>,
}

impl Walk<'_> {
    fn wrong(&mut self, time: Instant, job: Option<(TaskId, u32)>, text: String) {
        let (task, job) = job.unzip();
        let core = CoreId(self.core as u8);
        self.found.push(Violation { rule: Rule::Change, time, core, task, job, text });
    }

    fn order(&mut self, trace: &Trace) {
        let (mut asked, mut last) = (Vec::new(), None);
        for r in &trace.cores[self.core] {
            let n = r.job as usize;
            match r.kind {
                Kind::ChangeAsked => {
                    let at = self.changes.list.get(n).map(|change| change.at);
                    if at.is_none_or(|at| r.time < Instant::ZERO.saturating_add(at)) {
                        self.wrong(r.time, None, format!("change {n} is asked for before its time"));
                    }
                    asked.push(n);
                }
                Kind::Changed | Kind::ChangeRefused => {
                    if !asked.contains(&n) {
                        self.wrong(r.time, None, format!("change {n} is settled and was not asked for"));
                    }
                    if last.is_some_and(|last| last >= n) {
                        self.wrong(r.time, None, format!("change {n} is settled out of its turn"));
                    }
                    last = Some(n);
                    let admitted = self.changes.list.get(n).is_some_and(|change| change.refused.is_none());
                    if r.kind == Kind::Changed && !admitted {
                        self.wrong(r.time, None, format!("change {n} takes effect and was not admitted"));
                    }
                }
                _ => {}
            }
        }
    }

    /// Each release is its period after the one before, the first one its offset after the task began.
    fn releases(&mut self, trace: &Trace) {
        let first = |n: usize| Instant::ZERO.saturating_add(self.view.tasks[n].offset);
        let start = &self.changes.start;
        let mut due: Vec<Option<Instant>> =
            start.iter().enumerate().map(|(n, now)| now.there.then(|| first(n))).collect();
        let mut now: Vec<Now> = start.clone();
        let mut next = vec![0; now.len()];
        for r in &trace.cores[self.core] {
            match r.kind {
                Kind::Changed => {
                    let Some(change) = self.changes.list.get(r.job as usize) else { continue };
                    for (n, after) in change.tasks.iter().enumerate() {
                        if self.view.tasks[n].core != Some(CoreId(self.core as u8)) {
                            continue;
                        }
                        if after.there && !now[n].there {
                            due[n] = Some(r.time.saturating_add(self.view.tasks[n].offset));
                        }
                        now[n] = *after;
                    }
                }
                Kind::Release => {
                    let Some(n) = r.task.map(TaskId::index).filter(|n| *n < now.len()) else { continue };
                    let at = Instant::from_nanos(r.arg);
                    if due[n] != Some(at) || !now[n].there {
                        let due = due[n].map_or("not due".into(), |due| format!("due at {due}"));
                        self.wrong(r.time, r.task.map(|task| (task, r.job)), format!("is released at {at}, {due}"));
                    } else if r.job != next[n] {
                        let text = format!("comes where job {} should", next[n]);
                        self.wrong(r.time, r.task.map(|task| (task, r.job)), text);
                    }
                    next[n] = r.job.wrapping_add(1);
                    due[n] = Some(at.saturating_add(now[n].period));
                }
                _ => {}
            }
        }
    }

    /// Counts what servers had from each of their beginnings on, as for servers that do not change.
    fn supply(&mut self, trace: &Trace, tolerance: Duration) {
        let Some(tree) = &self.view.tree else { return };
        let core = CoreId(self.core as u8);
        let mut runs: Vec<(Instant, Instant, usize)> = Vec::new();
        for s in schedule_with(trace, Boundary::Decision) {
            let Some(task) = s.task.filter(|_| s.core == core && s.kind == SegmentKind::Run) else { continue };
            runs.push((s.start, s.end, tree.tasks.get(task.index()).map_or(0, |task| task.server)));
        }
        for (server, it) in tree.servers.iter().enumerate().skip(1).filter(|(_, it)| it.cores.contains(core)) {
            let Some((.., bound)) = it.supply.filter(|_| !it.background) else { continue };
            // When it began with which values.
            let mut phases = vec![(Instant::ZERO, self.changes.servers.get(server).copied().flatten())];
            for r in trace.cores[self.core].iter().filter(|r| r.kind == Kind::Changed) {
                let after = self.changes.list.get(r.job as usize);
                let after = after.and_then(|change| change.servers.get(server).copied()).flatten();
                if phases.last().is_some_and(|last| last.1 != after) {
                    phases.push((r.time, after));
                }
            }
            for (n, (begin, values)) in phases.iter().enumerate() {
                let end = phases.get(n + 1).map_or(Instant::NEVER, |next| next.0);
                let within = runs.iter().filter(|run| run.2 == server && run.0 < end && run.1 > *begin);
                let within = within.map(|run| (run.0.max(*begin), run.1.min(end)));
                let Some((budget, period)) = *values else {
                    if let Some((from, _)) = within.into_iter().next() {
                        self.wrong(from, None, format!("a job runs in server {server}, which is not there"));
                    }
                    continue;
                };
                let mut had: Vec<u64> = Vec::new();
                for (from, to) in within {
                    let mut at = from;
                    while at < to {
                        let n = at.since(*begin) / period;
                        let until = begin.saturating_add(period * (n + 1)).min(to);
                        had.resize(had.len().max(n as usize + 1), 0);
                        had[n as usize] += until.since(at).as_nanos();
                        at = until;
                    }
                }
                let each = budget.as_nanos().saturating_add(tolerance.as_nanos());
                let mut sum = 0;
                for (n, used) in had.into_iter().enumerate() {
                    sum += used;
                    let (used, most) = match bound {
                        Bound::Boundaries => (used, each),
                        Bound::Begun => (sum, each.saturating_mul(n as u64 + 2)),
                        Bound::None => continue,
                    };
                    if used > most {
                        let at = begin.saturating_add(period * (n as u64 + 1));
                        self.wrong(at, None, format!("server {server} had {used} ns since {begin}, at most {most}"));
                    }
                }
            }
        }
    }
}
