//! Reconfiguring the tasks of MC² while it runs.
//!
//! All cores are reconfigured together, since level C has them all, by [`crate::reconfigure`]. They are **idle** when nothing of levels
//! A to C is unfinished: no job on any core, and no ghost at levels B and C, behind which others would wait; and, of the
//! target, no job at level D, nor one that was released while level A ran and was not noticed. A ghost at level A keeps nobody
//! waiting, since its slot passes with or without it; it ends where its core gets a new table.
//!
//! **Tables.** A reconfiguration may bring cores new tables of level A. They count their cycles from time zero, as those of the start
//! do, and level A keeps to that: the next job of a task that is added there, or gets another period, is released at the first
//! instant from then on that is its offset and a whole number of periods after zero. So each job of level A has all slots that
//! its table means for it.
//!
//! **Who does what.** From a request until its decision every entry takes the lock. Each core publishes in the
//! [`ReconfigurationBarrier`] until when it has nothing of A and B. The core that finds all cores idle applies the
//! reconfiguration at levels C and D, and notifies all others; each core applies what concerns its own levels at its next entry,
//! before anything else. It has had nothing to do there meanwhile.
//!
//! It is refused if a level would promise more by budgets than the core, or at C all cores, and more than before.

use super::local::Local;
use super::shared::Shared;
use super::table::Position;
use super::task_state::TaskState;
use crate::heap::{Heap, Key};
use crate::reconfigure::{self, share, Action, Change, Part, Reconfigure, Requests, Values, WHOLE};
use crate::records::Recorder;
use crate::{Mc2, Mc2Now, PolicyConfig, PolicyConfigError, Reconfigurable};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::EventKind;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, all: &Reconfigurable<Mc2, Mc2Now>) -> Result<(), PolicyConfigError> {
    reconfigure::check(setup, all, |_, then| {
        let mc2 = &all.policy;
        let sound = |(task, budget): &(TaskId, Duration)| {
            let task = setup.tasks.get(task.index());
            task.is_some_and(|task| !(mc2.enforce && task.level != Level::D && budget.is_zero()))
        };
        if let Some((task, _)) = then.budgets.iter().find(|budget| !sound(budget)) {
            return Err(PolicyConfigError::ChangeEffect(*task));
        }
        for (core, table) in &then.tables {
            if core.index() >= setup.cores {
                return Err(PolicyConfigError::TableCount(core.index() + 1));
            }
            super::check::slots(setup, *core, table)?;
        }
        Ok(())
    })
}

/// What one core knows of reconfigurations.
#[derive(Default)]
pub(super) struct Watch {
    list: Vec<Own>,
    /// How many were requested, and how many of those that are decided have been applied here.
    requested: usize,
    applied: usize,
    room: Vec<Key>,
}

/// What a reconfiguration is to a core.
struct Own {
    at: Instant,
    action: Action,
    removes: bool,
    /// Its task, if that is of level A or B here: its index, and its offset.
    task: Option<(usize, Duration)>,
    /// The budgets of indices here.
    budgets: Vec<(usize, Duration)>,
    table: Option<Position>,
}

/// What all cores know of reconfigurations.
pub(super) struct ReconfigurationBarrier {
    requests: Requests<Target>,
    /// Until when each core has nothing of levels A and B, as far as it has published.
    idle: Vec<Instant>,
    /// By task.
    terms: Vec<Terms>,
    room: Vec<Key>,
}

/// What a reconfiguration concerns and brings, for all cores.
struct Target {
    task: usize,
    /// When it was applied.
    applied: Option<Instant>,
    /// It came without what it brings others.
    alone: bool,
    /// Its task, if that is of level C or D: its index, and its offset.
    own: Option<(usize, Duration)>,
    /// The budgets of indices at levels C and D.
    budgets: Vec<(usize, Duration)>,
    /// The same of all tasks; what they had, once that is so.
    moved: Vec<(usize, Duration)>,
}

type Request = reconfigure::Request<Target>;

/// What is promised a task.
struct Terms {
    there: bool,
    level: Level,
    core: Option<CoreId>,
    budget: Duration,
    period: Duration,
}

/// The first instant from `now` on that is its offset and whole periods after zero.
fn on_the_grid(offset: Duration, period: Duration, now: Instant) -> Instant {
    let first = Instant::ZERO.saturating_add(offset);
    let inside = now.since(first) % period;
    match first >= now {
        true => first,
        false if inside.is_zero() => now,
        false => now.saturating_add(period - inside),
    }
}

/// Takes the task's boundary out of the heap.
fn take_out(heap: &mut Heap, place: usize, room: &mut Vec<Key>) {
    while let Some(first) = heap.pop() {
        if first.place() != place {
            room.push(first);
        }
    }
    room.drain(..).for_each(|key| heap.push(key));
}

/// Applies the action to its task.
fn act(
    task: &mut TaskState,
    heap: &mut Heap,
    (place, offset): (usize, Duration),
    action: Action,
    at: Instant,
    room: &mut Vec<Key>,
) {
    let level_a = task.name.1 == Level::A;
    let next = match action {
        Action::Remove => {
            task.end_at(Instant::ZERO);
            return take_out(heap, place, room);
        }
        Action::Add => {
            task.begin();
            if level_a {
                on_the_grid(offset, task.period, at)
            } else {
                at.saturating_add(offset)
            }
        }
        Action::Alter(named) => {
            let (time, period, deadline, priority) = (task.full, task.period, task.deadline, 0);
            let values = named.of(Values { time, period, deadline, priority });
            (task.period, task.deadline) = (values.period, values.deadline);
            if !level_a {
                return;
            }
            on_the_grid(offset, task.period, at)
        }
    };
    take_out(heap, place, room);
    if task.comes_next(next) {
        heap.push(Key::at(next, place));
    }
}

/// Gives all cores and each core their reconfigurations.
pub(super) fn attach(
    setup: &PolicyConfig,
    all: &Reconfigurable<Mc2, Mc2Now>,
    shared: &mut Shared,
    locals: &mut [(&mut Local, &mut Watch)],
) {
    let full = |task: TaskId, budget: Duration| TaskState::full_budget(&setup.tasks[task.index()], budget, &all.policy);
    let among = |tasks: &[TaskState], task: TaskId| tasks.iter().position(|it| it.name.0 == task);
    let of = |change: &Change| match change.part {
        Part::Task(task) => task,
        // The set-up has been checked.
        Part::Server(_) => TaskId(u16::MAX),
    };
    let own = |tasks: &[TaskState], change: &Change| {
        let task = of(change);
        among(tasks, task).map(|place| (place, setup.tasks[task.index()].offset))
    };
    let budgets = |tasks: &[TaskState], then: &Mc2Now| -> Vec<(usize, Duration)> {
        let one = |(task, budget): &(TaskId, Duration)| Some((among(tasks, *task)?, full(*task, *budget)));
        then.budgets.iter().filter_map(one).collect()
    };
    let both = || all.changes.iter().zip(&all.effects);
    let absent = |task: &TaskState| all.absent.contains(&task.name.0);
    for (id, (local, watch)) in locals.iter_mut().enumerate() {
        watch.room = Vec::with_capacity(local.tasks.len());
        watch.list = both()
            .map(|(change, then)| Own {
                at: reconfigure::requested_at(change),
                action: change.action,
                removes: change.admitted && change.action == Action::Remove,
                task: own(&local.tasks, change),
                budgets: budgets(&local.tasks, then),
                table: then.tables.iter().find(|(core, _)| core.index() == id).map(|(_, table)| local.position(table)),
            })
            .collect();
        for place in 0..local.tasks.len() {
            if absent(&local.tasks[place]) {
                local.act((place, Duration::ZERO), Action::Remove, Instant::ZERO, &mut watch.room);
            }
        }
    }
    let mut room = Vec::with_capacity(shared.tasks.len());
    for place in 0..shared.tasks.len() {
        if absent(&shared.tasks[place]) {
            act(
                &mut shared.tasks[place],
                &mut shared.releases,
                (place, Duration::ZERO),
                Action::Remove,
                Instant::ZERO,
                &mut room,
            );
        }
    }
    let terms = |(n, task): (usize, &crate::Task)| Terms {
        there: !all.absent.contains(&TaskId(n as u16)),
        level: task.level,
        core: task.core,
        budget: full(TaskId(n as u16), task.budget),
        period: task.period,
    };
    let list = both().enumerate().map(|(n, (change, then))| {
        let target = Target {
            task: of(change).index(),
            applied: None,
            alone: false,
            own: own(&shared.tasks, change),
            budgets: budgets(&shared.tasks, then),
            moved: then.budgets.iter().map(|(task, budget)| (task.index(), full(*task, *budget))).collect(),
        };
        Request::new(n, change, target)
    });
    let (list, terms) = (list.collect(), setup.tasks.iter().enumerate().map(terms).collect());
    let (requests, idle) = (Requests::new(list, all.protocol), alloc::vec![Instant::ZERO; setup.cores]);
    shared.barrier = Some(Box::new(ReconfigurationBarrier { requests, idle, terms, room }));
}

impl Local {
    /// Until when, boundaries up to then left out, nothing of A and B is left; the beginning of time if something is.
    pub(super) fn idle_until(&self) -> Instant {
        let at_rest = |task: &TaskState| match task.name.1 {
            Level::A => task.has_no_job(),
            _ => task.is_at_rest(),
        };
        match self.tasks.iter().all(at_rest) {
            true => self.tasks.iter().map(TaskState::next).fold(Instant::NEVER, Instant::min),
            false => Instant::ZERO,
        }
    }

    fn act(&mut self, own: (usize, Duration), action: Action, at: Instant, room: &mut Vec<Key>) {
        let task = &mut self.tasks[own.0];
        let level = task.name.1.index();
        act(task, &mut self.releases[level], own, action, at, room);
    }
}

impl Watch {
    /// When the next one is requested.
    pub(super) fn next(&self) -> Instant {
        self.list.get(self.requested).map_or(Instant::NEVER, |own| own.at)
    }

    /// From when on the core has to look: always while one is not decided, or not applied here.
    pub(super) fn look(&self) -> Instant {
        if self.applied < self.requested {
            Instant::ZERO
        } else {
            self.next()
        }
    }

    /// Applies here what has been applied.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&mut self, local: &mut Local, shared: &Shared) {
        let Some(barrier) = &shared.barrier else { return };
        let decided = barrier.requests.decided();
        self.requested = self.requested.max(decided);
        for n in self.applied..decided {
            let Target { applied: Some(at), alone, .. } = barrier.requests.all()[n].target else { continue };
            let own = &mut self.list[n];
            for (task, budget) in own.budgets.iter().filter(|_| !alone) {
                local.tasks[*task].full = *budget;
            }
            if let Some(table) = own.table.as_mut().filter(|_| !alone) {
                core::mem::swap(&mut local.table, table);
                // The ghosts of the other table were timed to the ends of its slots.
                local.tasks.iter_mut().filter(|task| task.name.1 == Level::A).for_each(TaskState::lay_ghost);
            }
            if let Some(task) = own.task {
                local.act(task, own.action, at, &mut self.room);
                // It releases nothing if its removal is requested already.
                let mut later = self.list[n + 1..self.requested].iter();
                if let Some(end) = later.find(|it| it.removes && it.task.is_some_and(|it| it.0 == task.0)) {
                    local.tasks[task.0].end_at(end.at);
                }
            }
        }
        self.applied = decided;
    }

    /// Takes up what is requested by now and applies what can be. Whom to notify.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on(&mut self, local: &mut Local, shared: &mut Shared, records: &mut Recorder) -> CoreSet {
        let mut notify = CoreSet::EMPTY;
        let Some(mut barrier) = shared.barrier.take() else { return notify };
        let ReconfigurationBarrier { requests, idle, terms, room } = &mut *barrier;
        let mut entry = Entry { shared, idle, terms, room, records };
        requests.receive(&mut entry);
        self.receive(local, entry.records.now);
        entry.idle[entry.records.core.index()] = local.idle_until();
        let any = requests.decide(&mut entry);
        shared.barrier = Some(barrier);
        if any {
            self.catch_up(local, shared);
            notify = CoreSet::first(shared.cores());
            notify.remove(records.core);
        }
        notify
    }

    /// Takes up what is requested by now, as far as it concerns the core.
    fn receive(&mut self, local: &mut Local, now: Instant) {
        while let Some(own) = self.list.get(self.requested).filter(|own| own.at <= now) {
            if let (true, Some((task, _))) = (own.removes, own.task) {
                local.tasks[task].end_at(own.at);
            }
            self.requested += 1;
        }
    }
}

impl Shared {
    /// The core publishes until when it has nothing of A and B.
    #[cold]
    #[inline(never)]
    pub(super) fn publish_idle(&mut self, me: CoreId, until: Instant) {
        if let Some(barrier) = &mut self.barrier {
            // Nobody looks while no request waits, and what was published then is of no use later.
            match barrier.requests.is_pending() {
                true => barrier.idle[me.index()] = until,
                false => barrier.idle.fill(Instant::ZERO),
            }
        }
    }
}

/// All cores at an entry of one.
struct Entry<'a, 'r> {
    shared: &'a mut Shared,
    idle: &'a mut [Instant],
    terms: &'a mut [Terms],
    room: &'a mut Vec<Key>,
    records: &'a mut Recorder<'r>,
}

impl Reconfigure<Target> for Entry<'_, '_> {
    fn now(&self) -> Instant {
        self.records.now
    }
    fn record(&mut self, kind: EventKind, number: u32, argument: u64) {
        self.records.change(kind, number, argument);
    }
    fn stop_releases(&mut self, request: &Request) {
        if let Some((task, _)) = request.target.own {
            self.shared.tasks[task].end_at(request.at);
        }
    }
    fn is_idle(&self, request: &Request) -> bool {
        let (now, tasks) = (self.records.now, &self.shared.tasks);
        let at_rest = |task: &TaskState| task.name.1 == Level::D || task.is_at_rest() && task.next() >= now;
        self.idle.iter().all(|until| *until >= now)
            && tasks.iter().all(at_rest)
            && request.target.own.is_none_or(|(task, _)| tasks[task].has_no_job() && tasks[task].next() >= now)
    }
    fn accept(&mut self, request: &mut Request) -> Result<(), u64> {
        let before = sums(self.terms);
        let (task, action) = (request.target.task, request.action);
        let own = &mut self.terms[task];
        let (there, period) = (own.there, own.period);
        match action {
            Action::Add => own.there = true,
            Action::Remove => own.there = false,
            Action::Alter(named) => own.period = named.period.unwrap_or(own.period),
        }
        exchange(self.terms, &mut request.target);
        let cores = self.shared.cores() as u64;
        let most = |sum: usize| if sum == LEVEL_C { WHOLE * cores } else { WHOLE };
        let after = sums(self.terms);
        let fits = (0..SUMS).all(|sum| after[sum] <= most(sum) || after[sum] <= before[sum]);
        if !fits {
            exchange(self.terms, &mut request.target);
            (self.terms[task].there, self.terms[task].period) = (there, period);
        }
        reconfigure::unless_overloaded(fits)
    }
    fn forget_effect(&mut self, request: &mut Request) {
        request.target.budgets.clear();
        request.target.moved.clear();
        request.target.alone = true;
    }
    /// Applies it at levels C and D.
    fn apply(&mut self, pending: &mut [Request]) {
        let Some((Request { action, target, .. }, later)) = pending.split_first_mut() else { return };
        target.applied = Some(self.records.now);
        for (task, budget) in &target.budgets {
            self.shared.tasks[*task].full = *budget;
        }
        if let Some(own) = target.own {
            let Shared { tasks, releases, .. } = &mut *self.shared;
            act(&mut tasks[own.0], releases, own, *action, self.records.now, self.room);
            // It releases nothing if its removal is requested already.
            if let Some(end) = later.iter().find(|it| it.removes() && it.target.task == target.task) {
                tasks[own.0].end_at(end.at);
            }
        }
    }
}

/// Gives the tasks the budgets that the target brings, and keeps those that they had.
fn exchange(terms: &mut [Terms], target: &mut Target) {
    for (task, budget) in &mut target.moved {
        core::mem::swap(&mut terms[*task].budget, budget);
    }
}

/// What is promised at A and at B of each core, and at C.
fn sums(terms: &[Terms]) -> [u64; SUMS] {
    let mut sums = [0_u64; SUMS];
    for it in terms.iter().filter(|it| it.there) {
        let sum = match (it.level, it.core) {
            (Level::A, Some(core)) => core.index() * 2,
            (Level::B, Some(core)) => core.index() * 2 + 1,
            (Level::C, _) => LEVEL_C,
            _ => continue,
        };
        sums[sum] = sums[sum].saturating_add(share(it.budget, it.period));
    }
    sums
}

/// The index of level C's sum, behind those of A and B of each core.
const LEVEL_C: usize = 2 * tactus_time::MAX_CORES;
const SUMS: usize = LEVEL_C + 1;
