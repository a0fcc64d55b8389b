//! Changing the tasks while MC² runs, with no promise broken by it.
//!
//! **The protocol** is that of the idle instant ([`crate::Changing`] tells it for trees), for all cores together, since level C has them
//! all. A change is asked for at its time; from then on what is to be removed has no more jobs. It takes effect at the first
//! instant at which nothing of levels A to C is left: no job on any core, and no ghost at levels B and C, behind which
//! others would wait; and of what it is of, no job at level D, nor one that came while level A ran and was not noticed. A ghost at
//! level A keeps nobody waiting, since its slot passes with or without it; it ends where its core gets a new table.
//!
//! **Tables.** A change may bring cores new tables of level A. They count their cycles from time zero, as those of the start do, and level A
//! keeps to that: what is added there, or gets another period, has its next job at the first instant from the change on that is its
//! offset and a whole number of periods after zero. So each job of level A has all slots that its table means for it.
//!
//! **Who does what.** From the time at which a change is asked for, until it is settled, every entry takes the lock. Each core leaves on
//! the [`Board`] until when it has nothing of A and B; who finds that nothing is left anywhere lets the change take effect at levels C and D, and notifies all
//! others; each core makes what concerns its own levels at its next entry, before anything else. It has had nothing to do there meanwhile.
//!
//! **Admission** is by analysis, before the run. What takes effect is looked at once more: no level may promise more by budgets
//! than the core, or at C all cores, and more than before.

use super::local::Local;
use super::server::Server;
use super::shared::Shared;
use super::table::Position;
use crate::changes::{self, asked_at};
use crate::heap::{Heap, Key};
use crate::records::Recorder;
use crate::tree::{share, Action, Change, Part, Protocol, Values, WHOLE};
use crate::{Changeable, Mc2, PolicyConfig, PolicyConfigError, Table};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::{EventKind, CHANGE_NOT_ADMITTED, CHANGE_OVERLOADS};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

/// What a change brings beside what it says of its own task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mc2Now {
    /// The tasks that have other budgets from then on, its own among them; see [`Task::budget`](crate::Task::budget).
    pub budgets: Vec<(TaskId, Duration)>,
    /// The cores that have other tables of level A.
    pub tables: Vec<(CoreId, Table)>,
}

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, all: &Changeable<Mc2, Mc2Now>) -> Result<(), PolicyConfigError> {
    changes::check(setup, all, |_, then| {
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

/// What one core knows of changes.
#[derive(Default)]
pub(super) struct Watch {
    list: Vec<Mine>,
    /// So many have been asked for, and so many of those that are settled have been made here.
    asked: usize,
    made: usize,
    room: Vec<Key>,
}

/// What a change is to a core.
struct Mine {
    at: Instant,
    action: Action,
    admitted: bool,
    /// What it is of, if that is of level A or B here: its place, and its offset.
    own: Option<(usize, Duration)>,
    /// What places here have then.
    budgets: Vec<(usize, Duration)>,
    table: Option<Position>,
}

/// What all cores know of changes.
pub(super) struct Board {
    list: Vec<Posted>,
    /// So many have been asked for, and so many of these are settled.
    asked: usize,
    settled: usize,
    /// Until when each core has nothing of levels A and B, as far as it has said.
    quiet: Vec<Instant>,
    /// By task.
    terms: Vec<Terms>,
    room: Vec<Key>,
    protocol: Protocol,
}

/// A change that is to come.
struct Posted {
    at: Instant,
    task: usize,
    action: Action,
    admitted: bool,
    /// When it took effect.
    effect: Option<Instant>,
    /// What it is of, if that is of level C or D: its place, and its offset.
    own: Option<(usize, Duration)>,
    /// What places at levels C and D have then.
    budgets: Vec<(usize, Duration)>,
    /// The same of all tasks; what they had, once that is so.
    moved: Vec<(usize, Duration)>,
}

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

/// What the change does to the task that it is of.
fn act(
    task: &mut Server,
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
        Action::Alter(Values { period, deadline, .. }) => {
            (task.period, task.deadline) = (period, deadline);
            if !level_a {
                return;
            }
            on_the_grid(offset, period, at)
        }
    };
    take_out(heap, place, room);
    if task.comes_next(next) {
        heap.push(Key::at(next, place));
    }
}

/// Takes the changes into what all cores share and what each has.
pub(super) fn attach(
    setup: &PolicyConfig,
    all: &Changeable<Mc2, Mc2Now>,
    shared: &mut Shared,
    locals: &mut [(&mut Local, &mut Watch)],
) {
    let full = |task: TaskId, budget: Duration| Server::full_budget(&setup.tasks[task.index()], budget, &all.policy);
    let among = |tasks: &[Server], task: TaskId| tasks.iter().position(|it| it.name.0 == task);
    let of = |change: &Change| match change.part {
        Part::Task(task) => task,
        // The set-up has been checked.
        Part::Server(_) => TaskId(u16::MAX),
    };
    let own = |tasks: &[Server], change: &Change| {
        let task = of(change);
        among(tasks, task).map(|place| (place, setup.tasks[task.index()].offset))
    };
    let budgets = |tasks: &[Server], then: &Mc2Now| -> Vec<(usize, Duration)> {
        let one = |(task, budget): &(TaskId, Duration)| Some((among(tasks, *task)?, full(*task, *budget)));
        then.budgets.iter().filter_map(one).collect()
    };
    let both = || all.changes.iter().zip(&all.effects);
    let absent = |task: &Server| all.absent.contains(&task.name.0);
    for (id, (local, watch)) in locals.iter_mut().enumerate() {
        watch.room = Vec::with_capacity(local.tasks.len());
        watch.list = both()
            .map(|(change, then)| Mine {
                at: asked_at(change),
                action: change.action,
                admitted: change.admitted,
                own: own(&local.tasks, change),
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
    let list = both().map(|(change, then)| Posted {
        at: asked_at(change),
        task: of(change).index(),
        action: change.action,
        admitted: change.admitted,
        effect: None,
        own: own(&shared.tasks, change),
        budgets: budgets(&shared.tasks, then),
        moved: then.budgets.iter().map(|(task, budget)| (task.index(), full(*task, *budget))).collect(),
    });
    let (list, terms) = (list.collect(), setup.tasks.iter().enumerate().map(terms).collect());
    let quiet = alloc::vec![Instant::ZERO; setup.cores];
    let protocol = all.protocol;
    shared.board = Some(Box::new(Board { list, asked: 0, settled: 0, quiet, terms, room, protocol }));
}

impl Local {
    /// Until when, boundaries up to then left out, nothing of A and B is left; the beginning of time if something is.
    pub(super) fn quiet_until(&self) -> Instant {
        let at_rest = |task: &Server| match task.name.1 {
            Level::A => task.has_no_job(),
            _ => task.is_at_rest(),
        };
        match self.tasks.iter().all(at_rest) {
            true => self.tasks.iter().map(Server::next).fold(Instant::NEVER, Instant::min),
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
    /// When the next change is asked for.
    pub(super) fn next(&self) -> Instant {
        self.list.get(self.asked).map_or(Instant::NEVER, |change| change.at)
    }

    /// From when on the core has to look at changes: always while one is not settled, or not made here.
    pub(super) fn look(&self) -> Instant {
        if self.made < self.asked {
            Instant::ZERO
        } else {
            self.next()
        }
    }

    /// Makes here what has taken effect.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&mut self, local: &mut Local, shared: &Shared) {
        let Some(board) = &shared.board else { return };
        self.asked = self.asked.max(board.settled);
        for (mine, posted) in self.list[..board.settled].iter_mut().zip(&board.list).skip(self.made) {
            let Some(at) = posted.effect else { continue };
            for (place, budget) in &mine.budgets {
                local.tasks[*place].full = *budget;
            }
            if let Some(table) = &mut mine.table {
                core::mem::swap(&mut local.table, table);
                // Those of the other table had theirs told up to the ends of its slots.
                local.tasks.iter_mut().filter(|task| task.name.1 == Level::A).for_each(Server::lay_ghost);
            }
            if let Some(own) = mine.own {
                local.act(own, mine.action, at, &mut self.room);
            }
        }
        self.made = board.settled;
    }

    /// Takes up what is asked for by now and settles what may be. Whom to notify.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on(&mut self, local: &mut Local, shared: &mut Shared, records: &mut Recorder) -> CoreSet {
        shared.ask(records);
        self.ask(local, records.now);
        let mut notify = CoreSet::EMPTY;
        if shared.settle(records.core, local.quiet_until(), records) {
            self.catch_up(local, shared);
            notify = CoreSet::first(shared.cores());
            notify.remove(records.core);
        }
        notify
    }

    /// Takes up what is asked for by now, as far as it concerns the core.
    fn ask(&mut self, local: &mut Local, now: Instant) {
        while let Some(change) = self.list.get(self.asked).filter(|change| change.at <= now) {
            if let (true, Action::Remove, Some((place, _))) = (change.admitted, change.action, change.own) {
                local.tasks[place].end_at(change.at);
            }
            self.asked += 1;
        }
    }
}

impl Shared {
    /// Takes up what is asked for by now.
    fn ask(&mut self, records: &mut Recorder) {
        let Some(board) = &mut self.board else { return };
        while let Some(change) = board.list.get(board.asked).filter(|change| change.at <= records.now) {
            records.change(EventKind::ChangeAsked, board.asked as u32, change.at.as_nanos());
            if let (true, Action::Remove, Some((place, _))) = (change.admitted, change.action, change.own) {
                self.tasks[place].end_at(change.at);
            }
            board.asked += 1;
        }
    }

    /// Settles what may be, where the core itself has nothing of A and B until then. Whether something took effect.
    fn settle(&mut self, me: CoreId, until: Instant, records: &mut Recorder) -> bool {
        let Some(mut board) = self.board.take() else { return false };
        board.quiet[me.index()] = until;
        let mut any = false;
        while board.settled < board.asked {
            let n = board.settled;
            let waits = board.protocol == Protocol::Quiet && !self.is_quiet(&board, n, records.now);
            if !board.list[n].admitted {
                records.change(EventKind::ChangeRefused, n as u32, CHANGE_NOT_ADMITTED);
            } else if waits {
                break;
            } else if board.promises(n, self.cores()) {
                records.change(EventKind::Changed, n as u32, 0);
                self.change(&mut board, n, records.now);
                any = true;
            } else {
                records.change(EventKind::ChangeRefused, n as u32, CHANGE_OVERLOADS);
            }
            board.settled += 1;
        }
        self.board = Some(board);
        any
    }

    /// The core says until when it has nothing of A and B.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_word(&mut self, me: CoreId, until: Instant) {
        if let Some(board) = &mut self.board {
            // Nobody looks at cores while nothing waits, so that their words are of no use later.
            match board.settled < board.asked {
                true => board.quiet[me.index()] = until,
                false => board.quiet.fill(Instant::ZERO),
            }
        }
    }

    /// Whether nothing is left that the change could meet.
    fn is_quiet(&self, board: &Board, n: usize, now: Instant) -> bool {
        let at_rest = |task: &Server| task.name.1 == Level::D || task.is_at_rest() && task.next() >= now;
        let own = board.list[n].own;
        board.quiet.iter().all(|until| *until >= now)
            && self.tasks.iter().all(at_rest)
            && own.is_none_or(|(place, _)| self.tasks[place].has_no_job() && self.tasks[place].next() >= now)
    }

    /// Makes the change at levels C and D.
    fn change(&mut self, board: &mut Board, n: usize, now: Instant) {
        let change = &mut board.list[n];
        change.effect = Some(now);
        for (place, budget) in &change.budgets {
            self.tasks[*place].full = *budget;
        }
        if let Some(own) = change.own {
            act(&mut self.tasks[own.0], &mut self.releases, own, change.action, now, &mut board.room);
        }
    }
}

impl Board {
    /// Takes the terms of the change, unless a level would have promised more than there is, and more than before. Whether it
    /// has.
    fn promises(&mut self, n: usize, cores: usize) -> bool {
        let before = self.sums();
        let Posted { task, action, .. } = self.list[n];
        let own = &mut self.terms[task];
        let (there, period) = (own.there, own.period);
        match action {
            Action::Add => own.there = true,
            Action::Remove => own.there = false,
            Action::Alter(values) => own.period = values.period,
        }
        self.exchange(n);
        let most = |place: usize| if place == LEVEL_C { WHOLE * cores as u64 } else { WHOLE };
        let after = self.sums();
        let fits = (0..SUMS).all(|place| after[place] <= most(place) || after[place] <= before[place]);
        if !fits {
            self.exchange(n);
            (self.terms[task].there, self.terms[task].period) = (there, period);
        }
        fits
    }

    fn exchange(&mut self, n: usize) {
        for (task, budget) in &mut self.list[n].moved {
            core::mem::swap(&mut self.terms[*task].budget, budget);
        }
    }

    /// What is promised at A and at B of each core, and at C.
    fn sums(&self) -> [u64; SUMS] {
        let mut sums = [0_u64; SUMS];
        for it in self.terms.iter().filter(|it| it.there) {
            let place = match (it.level, it.core) {
                (Level::A, Some(core)) => core.index() * 2,
                (Level::B, Some(core)) => core.index() * 2 + 1,
                (Level::C, _) => LEVEL_C,
                _ => continue,
            };
            sums[place] = sums[place].saturating_add(share(it.budget, it.period));
        }
        sums
    }
}

/// Where the sum of level C is, behind those of A and B of each core.
const LEVEL_C: usize = 2 * tactus_time::MAX_CORES;
const SUMS: usize = LEVEL_C + 1;
