//! Changes of the running system as the judge sees them: what was promised when, and the rules that hold through them.
//!
//! Each core goes through its own changes, or all that share queues do so together. Their records tell when each took effect; from
//! then on the tasks there have the periods, deadlines and promises that admission worked out for it. A job belongs to what held at its release. One
//! that is under way when a change is applied has the weaker promise of both.

use crate::check::{Rule, Violation};
use crate::order::in_order;
use crate::schedule::last_look;
use crate::view::{new_deadline, Action, ChangeView, Changes, Now, Target, TaskView, Trace, View};
use crate::{ChangeSummary, Fate};
use tactus_record::{slot_loaded_from, EventKind, Record, SlotSwitch, SlotUpdate, CHANGE_DEPENDS, CHANGE_NOT_ADMITTED};
use tactus_task::Bound;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// The `arg` of a [`EventKind::Dropped`] whose program was unloaded.
const DROPPED_UNLOADED: u64 = 4;

/// All tasks and servers between two changes.
#[derive(Clone)]
struct Stage {
    tasks: Vec<Now>,
    /// Whether each server is there, by its place.
    servers: Vec<bool>,
    /// By slot: the number of the load whose program is in it.
    programs: Vec<Option<u64>>,
    /// The slots of the update that came last: of the old version, of the new one.
    pair: (usize, usize),
}

impl Stage {
    fn first(view: &View, changes: &Changes) -> Stage {
        let servers = view.tree.iter().flat_map(|tree| &tree.servers).map(|server| !server.absent);
        let programs = vec![None; view.slots.len()];
        Stage { tasks: changes.start.clone(), servers: servers.collect(), programs, pair: (0, 0) }
    }

    /// What becomes of it by the change.
    fn take(&mut self, change: &ChangeView) {
        let there = match change.action {
            Action::Begins => Some(true),
            Action::Ends => Some(false),
            Action::Alters { .. } => None,
        };
        match change.target {
            Target::Server(server) => {
                if let Some(it) = self.servers.get_mut(server) {
                    *it = there.unwrap_or(*it);
                }
            }
            Target::Task(task) => {
                if let Some(it) = self.tasks.get_mut(task.index()) {
                    it.there = there.unwrap_or(it.there);
                    if let Action::Alters { period, deadline } = change.action {
                        it.deadline = new_deadline((it.period, it.deadline), period, deadline);
                        it.period = period.unwrap_or(it.period);
                    }
                }
            }
        }
        for (task, budget) in &change.budgets {
            if let Some(it) = self.tasks.get_mut(task.index()) {
                it.budget = Some(*budget);
            }
        }
        self.tasks.iter_mut().zip(&change.promises).for_each(|(it, promise)| it.promise = *promise);
    }

    /// What becomes of it by a record of a slot: what is loaded has the values of the plan, and its deadline is promised to it.
    fn take_slot(&mut self, view: &View, record: &Record) {
        let number = record.job as usize;
        let Some(program) = self.programs.get_mut(number) else { return };
        match record.kind {
            EventKind::SlotLoaded => *program = Some(record.arg),
            EventKind::SlotUpdate => {
                let SlotUpdate { load, from, .. } = SlotUpdate::of(record.arg);
                if record.level == 0 {
                    *program = Some(load.into());
                    self.pair = (usize::from(from), number);
                }
                return;
            }
            EventKind::SlotSwitched => {
                let (from, to) = self.pair;
                if number == to || number == from {
                    self.fill_slot(view, if number == to { from } else { to }, false);
                    self.fill_slot(view, number, true);
                }
                return;
            }
            _ => *program = None,
        }
        self.fill_slot(view, number, record.kind == EventKind::SlotLoaded);
    }

    /// The program that is in the slot releases jobs, or none does.
    fn fill_slot(&mut self, view: &View, number: usize, releases: bool) {
        let Some(slot) = view.slots.get(number) else { return };
        let program = self.programs.get(number).copied().flatten();
        let mut all = view.slots.iter().flat_map(|slot| &slot.loads);
        let load = all.find(|load| Some(load.number as u64) == program);
        for task in slot.tasks.clone() {
            let Some(it) = self.tasks.get_mut(task) else { continue };
            let values = load.and_then(|load| load.values(TaskId(task as u16)));
            let comes = values.filter(|_| releases);
            it.there = comes.is_some();
            it.promise = None;
            if let Some(values) = comes {
                (it.period, it.deadline) = (values.period, values.deadline);
                it.execution = Some(values.execution);
                it.promise = Some(Bound::Response(values.deadline));
            }
        }
    }

    /// The task as it is, with the servers around it.
    fn now(&self, view: &View, task: TaskId) -> Option<Now> {
        let own = self.tasks.get(task.index()).copied()?;
        let mut around = view.tree.iter().flat_map(|tree| tree.above(task));
        let there = own.there && around.all(|server| self.servers.get(server).is_none_or(|there| *there));
        Some(Now { there, ..own })
    }
}

impl View {
    /// What is promised for the task whatever changes take effect while it is there: the weakest of all its promises.
    pub fn weakest_promise(&self, task: usize) -> Option<Bound> {
        let all = self.planned(TaskId(task as u16)).into_iter().filter(|now| now.there).map(|now| now.promise);
        all.reduce(weaker).flatten()
    }

    /// The task at its start and after each change, if all are applied that were admitted.
    pub(crate) fn planned(&self, task: TaskId) -> Vec<Now> {
        let Some(changes) = &self.changes else {
            let TaskView { period, deadline, promise, budget, .. } = self.tasks[task.index()];
            return vec![Now { there: true, period, deadline, promise, budget, execution: None }];
        };
        let mut stage = Stage::first(self, changes);
        let mut all: Vec<Now> = stage.now(self, task).into_iter().collect();
        for change in changes.list.iter().filter(|change| change.refused.is_none()) {
            stage.take(change);
            all.extend(stage.now(self, task));
        }
        let loads = self.slots.iter().filter(|_| self.slot_of(task).is_some()).flat_map(|slot| &slot.loads);
        let values = loads.filter_map(|load| load.values(task));
        all.extend(values.map(|values| Now {
            there: true,
            period: values.period,
            deadline: values.deadline,
            promise: Some(Bound::Response(values.deadline)),
            budget: None,
            execution: Some(values.execution),
        }));
        all
    }

    /// How many tasks are promised something at some time.
    pub fn promised(&self) -> usize {
        let ever = |n: &usize| self.planned(TaskId(*n as u16)).iter().any(|now| now.there && now.promise.is_some());
        (0..self.tasks.len()).filter(ever).count()
    }

    /// The cores whose changes concern the task.
    fn home(&self, task: usize) -> CoreSet {
        if self.changes.as_ref().is_some_and(|changes| changes.together) {
            return CoreSet::first(self.cores);
        }
        match &self.tree {
            Some(tree) if task < tree.tasks.len() => tree.together(tree.queue(TaskId(task as u16))),
            _ => {
                let core = self.tasks.get(task).and_then(|task| task.core).unwrap_or_default();
                CoreSet::from_bits(1 << core.0)
            }
        }
    }

    /// The sets of cores that go through changes together.
    fn homes(&self) -> Vec<CoreSet> {
        let mut homes: Vec<CoreSet> = Vec::new();
        for home in (0..self.tasks.len()).map(|task| self.home(task)) {
            if !homes.contains(&home) {
                homes.push(home);
            }
        }
        homes
    }
}

/// When what was applied on each core.
pub(crate) struct History<'v> {
    changes: Option<&'v Changes>,
    /// Where, from when on, and what is so from then on; the start first.
    homes: Vec<(CoreSet, Vec<(Instant, Stage)>)>,
}

impl<'v> History<'v> {
    pub(crate) fn of(view: &'v View, trace: &Trace) -> History<'v> {
        let Some(changes) = &view.changes else { return History { changes: None, homes: Vec::new() } };
        let on = |home: CoreSet| {
            let cores = home.iter().filter_map(|core| trace.cores.get(core.index()));
            let decided = |r: &&Record| match r.kind {
                EventKind::ChangeApplied => true,
                kind if of_slots(kind) => true,
                EventKind::ChangeRefused => r.arg != CHANGE_NOT_ADMITTED,
                _ => false,
            };
            let mut decided: Vec<&Record> = cores.flatten().filter(decided).collect();
            decided.sort_by_key(|r| (r.time, r.job));
            let mut stages = vec![(Instant::ZERO, Stage::first(view, changes))];
            let mut refused = false;
            for r in decided {
                if of_slots(r.kind) {
                    let mut next = stages.last().map_or_else(|| Stage::first(view, changes), |(_, last)| last.clone());
                    next.take_slot(view, r);
                    stages.push((r.time, next));
                    continue;
                }
                let (Some((_, last)), Some(change)) = (stages.last(), changes.list.get(r.job as usize)) else {
                    continue;
                };
                if r.kind == EventKind::ChangeRefused {
                    refused = true;
                    continue;
                }
                let mut next = last.clone();
                next.take(change);
                if refused {
                    // Admission looked at it with one that was refused; a removal comes without what was computed so.
                    let budgets = last.tasks.iter().map(|now| now.budget).filter(|_| change.action == Action::Ends);
                    next.tasks.iter_mut().zip(budgets).for_each(|(now, budget)| now.budget = budget);
                    next.tasks.iter_mut().for_each(|now| now.promise = None);
                }
                stages.push((r.time, next));
            }
            (home, stages)
        };
        History { changes: Some(changes), homes: view.homes().into_iter().map(on).collect() }
    }

    /// What the task is from one time to another, the times of changes themselves belonging to what comes after.
    fn between<'s>(
        &'s self,
        view: &'s View,
        task: TaskId,
        from: Instant,
        to: Instant,
    ) -> impl Iterator<Item = Now> + 's {
        let home = view.home(task.index());
        let stages = self.homes.iter().find(|(cores, _)| *cores == home).map_or(&[][..], |(_, stages)| stages);
        let first = stages.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let last = stages.partition_point(|(at, _)| *at < to).max(first + 1).min(stages.len());
        stages[first.min(last)..last].iter().filter_map(move |(_, stage)| stage.now(view, task))
    }

    /// The budget that the task had at that time.
    pub(crate) fn budget(&self, view: &View, task: TaskId, at: Instant) -> Option<Duration> {
        match self.changes {
            None => view.tasks[task.index()].budget,
            Some(_) => self.between(view, task, at, at).next()?.budget,
        }
    }

    /// The longest execution that a job of a task of a slot, with this release, was admitted with.
    pub(crate) fn execution(&self, view: &View, task: TaskId, release: Instant) -> Option<Duration> {
        self.changes?;
        self.between(view, task, release, release).next()?.execution
    }

    /// Deadline and promise of a job that is under way from its release until the other time.
    pub(crate) fn owed(
        &self,
        view: &View,
        task: TaskId,
        release: Instant,
        until: Instant,
    ) -> (Duration, Option<Bound>) {
        let own = &view.tasks[task.index()];
        if self.changes.is_none() {
            return (own.deadline, own.promise);
        }
        let mut all = self.between(view, task, release, until);
        let Some(first) = all.next() else { return (own.deadline, None) };
        if view.slot_of(task).is_some() {
            // Its program's alone: what comes after it is another one.
            return (first.deadline, first.promise);
        }
        let promise = all.fold(first.promise, |weakest, now| weaker(weakest, now.promise));
        (first.deadline, promise)
    }

    /// What became of each change.
    pub(crate) fn summary(&self, trace: &Trace) -> Vec<ChangeSummary> {
        let Some(changes) = self.changes else { return Vec::new() };
        let records = || trace.cores.iter().flatten();
        // A server on cores that share nothing changes on each of them by itself; the last one tells.
        let of = |n: usize, kind: EventKind| {
            let all = records().filter(move |r| r.kind == kind && r.job as usize == n);
            (all.clone().count(), all.max_by_key(|r| r.time))
        };
        let one = |(n, change): (usize, &ChangeView)| {
            let [(took, last), (refused, no), (asked, _)] =
                [EventKind::ChangeApplied, EventKind::ChangeRefused, EventKind::ChangeRequested]
                    .map(|kind| of(n, kind));
            let fate = match asked {
                0 => Fate::NotRequested,
                _ if took + refused < asked => Fate::Waiting,
                _ if refused > 0 => Fate::Refused,
                _ => Fate::Applied,
            };
            let (took, refused) = (last.filter(|_| fate == Fate::Applied), no);
            let why = refused.map(|r| match (&change.refused, r.arg) {
                (Some(why), CHANGE_NOT_ADMITTED) => why.clone(),
                (None, CHANGE_NOT_ADMITTED) => "it was not admitted".into(),
                (_, CHANGE_DEPENDS) => "its values were computed with one that was refused".into(),
                _ => "the core would have promised more than there is of it".into(),
            });
            ChangeSummary {
                what: change.what.clone(),
                core: change.core.0,
                requested: Instant::ZERO.saturating_add(change.at),
                fate,
                decided: took.or(refused).map(|r| r.time),
                why,
            }
        };
        changes.list.iter().enumerate().map(one).collect()
    }
}

/// Whether records of this kind tell what is in slots.
fn of_slots(kind: EventKind) -> bool {
    use EventKind::{SlotLoaded, SlotSwitched, SlotUnloaded, SlotUpdate};
    matches!(kind, SlotLoaded | SlotUnloaded | SlotUpdate | SlotSwitched)
}

/// The weaker of two promises: what both keep.
fn weaker(a: Option<Bound>, b: Option<Bound>) -> Option<Bound> {
    match (a, b) {
        (Some(Bound::Response(a)), Some(Bound::Response(b))) => Some(Bound::Response(a.max(b))),
        (Some(Bound::Tardiness(a)), Some(Bound::Tardiness(b))) => Some(Bound::Tardiness(a.max(b))),
        _ => None,
    }
}

/// What must hold through changes: releases come in the periods of their time, from a change on and not beyond a removal, and none is
/// left out; and only what was admitted takes effect, in order and not before it was asked for. What servers and queues must
/// keep to is judged with those that do not change ([`servers`](crate::check::servers)).
pub fn changes(view: &View, trace: &Trace) -> Vec<Violation> {
    let Some(changes) = &view.changes else { return Vec::new() };
    let mut found = Vec::new();
    for home in view.homes() {
        let mut cores = home.iter().filter_map(|core| trace.cores.get(core.index()));
        let mut records: Vec<&Record> = Vec::new();
        match (cores.next(), cores.next()) {
            (Some(alone), None) => records.extend(alone),
            _ => in_order(trace, |r| records.extend(home.contains(r.core).then_some(r))),
        }
        let mut walk = Walk { view, changes, home, stage: Stage::first(view, changes), found: Vec::new() };
        walk.order(&records);
        walk.releases(&records, trace);
        found.append(&mut walk.found);
    }
    found
}

/// The records of cores that go through changes together.
struct Walk<'v> {
    view: &'v View,
    changes: &'v Changes,
    home: CoreSet,
    /// What is so, by what was applied.
    stage: Stage,
    found: Vec<Violation>,
}

/// The releases of a task, as they are to come.
struct Expected {
    now: Now,
    /// The next one; nothing before the task begins.
    due: Option<Instant>,
    /// How long it had until then when the program of its slot was saved; no time, if it had a job.
    saved: Option<Duration>,
    /// The last that came of its slot was a save.
    saves: bool,
    /// It releases before this only, since its removal was asked for.
    until: Instant,
    /// Number of the next one.
    job: u32,
    /// Its component was stopped for good: whatever becomes of it by changes, it releases nothing more.
    stopped: bool,
}

impl Walk<'_> {
    fn wrong(&mut self, (time, core): (Instant, CoreId), job: Option<(TaskId, u32)>, text: String) {
        let (task, job) = job.unzip();
        self.found.push(Violation { rule: Rule::Change, time, core, task, job, text });
    }

    fn order(&mut self, records: &[&Record]) {
        let (mut asked, mut last) = (Vec::new(), None);
        for r in records {
            let n = r.job as usize;
            match r.kind {
                EventKind::ChangeRequested => {
                    let at = self.changes.list.get(n).map(|change| change.at);
                    if at.is_none_or(|at| r.time < Instant::ZERO.saturating_add(at)) {
                        self.wrong((r.time, r.core), None, format!("change {n} requested before its time"));
                    }
                    asked.push(n);
                }
                EventKind::ChangeApplied | EventKind::ChangeRefused => {
                    if !asked.contains(&n) {
                        self.wrong((r.time, r.core), None, format!("change {n} is decided and was not requested"));
                    }
                    if last.is_some_and(|last| last >= n) {
                        self.wrong((r.time, r.core), None, format!("change {n} is settled out of its turn"));
                    }
                    last = Some(n);
                    let admitted = self.changes.list.get(n).is_some_and(|change| change.refused.is_none());
                    if r.kind == EventKind::ChangeApplied && !admitted {
                        self.wrong((r.time, r.core), None, format!("change {n} applied and was not admitted"));
                    }
                }
                _ => {}
            }
        }
    }

    /// The tasks here whose releases the change concerns now, as they are before it and after it.
    fn apply(&mut self, change: usize) -> Vec<(usize, Now, Now)> {
        let Some(change) = self.changes.list.get(change) else { return Vec::new() };
        let before = self.stage.clone();
        self.stage.take(change);
        let here = (0..self.view.tasks.len()).filter(|n| self.view.home(*n) == self.home);
        let both = here.filter_map(|n| {
            let task = TaskId(n as u16);
            Some((n, before.now(self.view, task)?, self.stage.now(self.view, task)?))
        });
        let releases = |now: &Now| (now.there, now.period);
        both.filter(|(_, before, after)| releases(before) != releases(after)).collect()
    }

    /// The tasks here that are to end by the change, and when it was to be asked for.
    fn removed(&self, change: usize) -> Option<(Vec<usize>, Instant)> {
        let it = self.changes.list.get(change).filter(|it| it.refused.is_none() && it.action == Action::Ends)?;
        let inside = |n: usize| match it.target {
            Target::Task(task) => task.index() == n,
            Target::Server(server) => {
                self.view.tree.iter().flat_map(|tree| tree.above(TaskId(n as u16))).any(|around| around == server)
            }
        };
        let here = (0..self.view.tasks.len()).filter(|n| self.view.home(*n) == self.home && inside(*n));
        Some((here.collect(), Instant::ZERO.saturating_add(it.at)))
    }

    /// Whether the task's releases are whole periods after its offset from time zero, whenever it begins.
    fn on_the_grid(&self, task: usize) -> bool {
        self.changes.together && self.view.tasks[task].level == Some(Level::A)
    }

    /// When the task has its first release from a change on.
    fn first_release(&self, task: usize, now: Instant, period: Duration) -> Instant {
        let offset = self.view.tasks[task].offset;
        let first = Instant::ZERO.saturating_add(offset);
        if !self.on_the_grid(task) {
            return now.saturating_add(offset);
        }
        let inside = now.since(first).as_nanos() % period.as_nanos();
        let rest = if inside == 0 { 0 } else { period.as_nanos() - inside };
        first.max(now).saturating_add(Duration::from_nanos(rest))
    }

    /// Each release is its period after the one before, the first one its offset after the task began.
    fn releases(&mut self, records: &[&Record], trace: &Trace) {
        let first = |n: usize| Instant::ZERO.saturating_add(self.view.tasks[n].offset);
        let begin = |n: usize| {
            let now = self.stage.now(self.view, TaskId(n as u16))?;
            Some(Expected {
                now,
                due: now.there.then(|| first(n)),
                until: Instant::NEVER,
                job: 0,
                saved: None,
                saves: false,
                stopped: false,
            })
        };
        let mut all: Vec<Expected> = (0..self.view.tasks.len()).map_while(begin).collect();
        // The removals that were asked for: which change, of which task, when.
        let mut ends: Vec<(u32, usize, Instant)> = Vec::new();
        let mut end = Instant::ZERO;
        for r in records {
            end = end.max(r.time);
            match r.kind {
                EventKind::ChangeRequested => {
                    let Some((tasks, at)) = self.removed(r.job as usize) else { continue };
                    for n in tasks {
                        all[n].until = all[n].until.min(at);
                        ends.push((r.job, n, at));
                    }
                }
                EventKind::ChangeApplied => {
                    for (n, before, after) in self.apply(r.job as usize) {
                        let first = self.first_release(n, r.time, after.period);
                        let it = &mut all[n];
                        if it.stopped {
                            it.due = None;
                        } else if after.there && !before.there {
                            it.due = Some(first);
                            // What is around it may be about to be removed.
                            let later = ends.iter().filter(|(change, of, _)| *change > r.job && *of == n);
                            it.until = later.map(|(.., at)| *at).min().unwrap_or(Instant::NEVER);
                        } else if self.on_the_grid(n) && it.due.is_some() {
                            it.due = Some(first);
                        }
                        let ends = before.there && !after.there;
                        let lost = it.due.filter(|due| ends && *due < it.until && *due < r.time);
                        it.now = after;
                        if let Some(due) = lost {
                            let job = it.job;
                            self.wrong(
                                (due, r.core),
                                Some((TaskId(n as u16), job)),
                                format!("was due at {due} and never released"),
                            );
                        }
                    }
                }
                EventKind::Removed => {
                    if let Some(it) = r.task.and_then(|task| all.get_mut(task.index())) {
                        (it.until, it.stopped) = (Instant::ZERO, true);
                    }
                }
                EventKind::SlotLoaded | EventKind::SlotUnloaded => {
                    let tasks_of = |slot: usize| self.view.slots.get(slot).map_or(0..0, |slot| slot.tasks.clone());
                    let tasks = tasks_of(r.job as usize);
                    // What goes on, of whichever slot it was saved.
                    let from = slot_loaded_from(r.job as u16, r.level).map(|from| tasks_of(from.into()).start);
                    let shift = from.unwrap_or(tasks.start).wrapping_sub(tasks.start);
                    self.stage.take_slot(self.view, r);
                    for n in tasks.filter(|n| *n < self.view.tasks.len()) {
                        let Some(now) = self.stage.now(self.view, TaskId(n as u16)) else { continue };
                        let saved = all.get(n.wrapping_add(shift)).and_then(|it| it.saved);
                        // It begins in this instant, whatever became of the program before; or what was saved goes on.
                        let it = &mut all[n];
                        it.saves = r.kind == EventKind::SlotUnloaded && r.level != 0;
                        if it.saves {
                            it.saved = it.due.map(|due| due.since(r.time.min(due)));
                        }
                        let after = match r.level {
                            0 => Some(Duration::ZERO),
                            _ => saved,
                        };
                        let begins = after.filter(|_| now.there).map(|after| r.time.saturating_add(after));
                        (it.now, it.due) = (now, begins);
                        (it.until, it.stopped) = (Instant::NEVER, false);
                    }
                }
                EventKind::Dropped if r.arg == DROPPED_UNLOADED => {
                    if let Some(it) = r.task.and_then(|task| all.get_mut(task.index())) {
                        it.saved = if it.saves { it.saved.and(Some(Duration::ZERO)) } else { it.saved };
                    }
                }
                EventKind::SlotUpdate => self.stage.take_slot(self.view, r),
                EventKind::SlotSwitched => {
                    self.stage.take_slot(self.view, r);
                    // The tasks of one slot have the releases of those of the other one.
                    let (from, to) = self.stage.pair;
                    let comes = r.job as usize;
                    let is_over = r.level == SlotSwitch::Over as u8;
                    let is_back = comes == from && !is_over;
                    let goes = if is_back { to } else { from };
                    let [Some(old), Some(new)] = [goes, comes].map(|slot| self.view.slots.get(slot)) else { continue };
                    for (old, new) in old.tasks.clone().zip(new.tasks.clone()) {
                        let now = [old, new].map(|n| self.stage.now(self.view, TaskId(n as u16)));
                        let [Some(before), Some(after)] = now else { continue };
                        // One that was kept, or could never take over, releases its jobs already.
                        if all[new].now.there && all[new].due.is_some() {
                            continue;
                        }
                        let due = if is_over && all[old].stopped { Some(r.time) } else { all[old].due };
                        let due = due.filter(|_| after.there);
                        (all[old].now, all[old].due) = (before, None);
                        let it = &mut all[new];
                        (it.now, it.due, it.until) = (after, due, Instant::NEVER);
                        (it.saves, it.stopped) = (false, false);
                    }
                }
                EventKind::Release => {
                    let Some(n) = r.task.map(TaskId::index).filter(|n| *n < all.len()) else { continue };
                    let (at, it) = (Instant::from_nanos(r.arg), &mut all[n]);
                    let text = if it.due != Some(at) || !it.now.there {
                        let due = it.due.map_or("not due".into(), |due| format!("due at {due}"));
                        Some(format!("is released at {at}, {due}"))
                    } else if at >= it.until {
                        Some(format!("is released at {at}, though it is to end by {}", it.until))
                    } else if r.time < at {
                        Some(format!("is released at {}, before it was due at {at}", r.time))
                    } else {
                        (r.job != it.job).then(|| format!("comes where job {} should", it.job))
                    };
                    it.job = r.job.wrapping_add(1);
                    it.due = Some(at.saturating_add(it.now.period));
                    if let Some(text) = text {
                        self.wrong((r.time, r.core), r.task.map(|task| (task, r.job)), text);
                    }
                }
                _ => {}
            }
        }
        let core = self.home.iter().next().unwrap_or_default();
        for (n, it) in all.iter().enumerate() {
            let Some(due) = it.due.filter(|due| it.now.there && *due < it.until) else { continue };
            let task = &self.view.tasks[n];
            // Where cores go through changes together, a job of level A keeps those of levels below from being noticed.
            let end = match self.changes.together && task.level > Some(Level::A) {
                true => end.min(last_look(self.view, trace, task.core)),
                false => end,
            };
            if self.view.home(n) == self.home && due.saturating_add(it.now.period) <= end {
                let text = format!("was due at {due} and never released");
                self.wrong((due, core), Some((TaskId(n as u16), it.job)), text);
            }
        }
    }
}
