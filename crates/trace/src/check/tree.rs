//! A tree of servers as the rules need it, and what becomes of it while it runs.

use super::holders::CeilingView;
use crate::order::in_order;
use crate::Trace;
use std::collections::HashMap;
use tactus_record::{EventKind, Record};
use tactus_task::{Overrun, ServerKind};
use tactus_time::{CoreId, CoreSet, Duration, Instant, TaskId};

/// A tree of servers as these rules need it.
#[derive(Clone, Debug)]
pub struct TreeView {
    /// The servers; place 0 is the root, and a server comes after the one that it is inside of.
    pub servers: Vec<ServerView>,
    /// The tasks, by `TaskId`.
    pub tasks: Vec<InTree>,
    /// What each change of the running system makes of it, by the number of the change.
    pub changes: Vec<TreeChange>,
    /// Whether the root and each server with something inside have a scheduler of their own: each notices what is due when it
    /// has the core, and several decide one after another.
    pub per_server: bool,
    /// What jobs that have begun keep from others; nothing where they keep nothing.
    pub ceilings: Option<CeilingView>,
    /// The least time from one line of memory to the next on a core; budgets of misses are kept in it.
    pub line: Duration,
    /// By task in a server with a budget of misses: how many lines a job asks for at most, where promises rest on that; empty if none do.
    pub misses: Vec<Option<u32>>,
    /// The same for changed lines that a job makes memory take back.
    pub write_backs: Vec<Option<u32>>,
}

/// One server.
#[derive(Clone, Debug)]
pub struct ServerView {
    /// Its name in the system file; the root has none.
    pub name: String,
    /// Place of the server that it is inside of; the root's is 0.
    pub parent: usize,
    /// Its cores; on each it has its whole budget.
    pub cores: CoreSet,
    /// How its cores share queues.
    pub queues: Vec<CoreSet>,
    /// Budget, period and kind; nothing for the root.
    pub supply: Option<(Duration, Duration, ServerKind)>,
    /// Of misses: the budget of lines written back in each period, as the least time in which memory takes them; nothing if it has none.
    pub write_backs: Option<Duration>,
    /// Whether it goes on without budget.
    pub background: bool,
    /// Whether it is not there at the start: a change adds it.
    pub absent: bool,
    /// How it is ordered among the others of the server that it is inside of; without meaning for the root.
    pub rank: Rank,
}

/// What a kind of server promises that it never exceeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// A budget from each boundary of its periods to the next.
    Boundaries,
    /// Up to any instant, a budget for each period that has begun and one more: a budget may be used late in one period
    /// and early in the next.
    Begun,
    /// Nothing in the short run.
    None,
}

impl Bound {
    /// What a kind of server promises.
    pub(crate) fn of(kind: ServerKind) -> Bound {
        match kind {
            ServerKind::Periodic | ServerKind::Polling | ServerKind::Deferrable => Bound::Boundaries,
            ServerKind::Sporadic | ServerKind::HardBandwidth | ServerKind::PriorityInheriting => Bound::Begun,
            ServerKind::SoftBandwidth | ServerKind::Reclaiming | ServerKind::PosixSporadic => Bound::None,
            // Its windows have a rule of their own.
            // So has a budget of misses, which is no time.
            // Nor is the time bounded of work that has what others leave.
            ServerKind::Windows | ServerKind::Misses => Bound::None,
            ServerKind::YieldingToChanged | ServerKind::YieldingToMisses => Bound::None,
        }
    }
}

/// One task.
#[derive(Clone, Copy, Debug)]
pub struct InTree {
    /// Place of its server.
    pub server: usize,
    /// The core, or one of the cores, whose queue it waits in; nothing where there is one queue.
    pub core: Option<CoreId>,
    /// How it is ordered among the others of its server.
    pub rank: Rank,
    /// Period.
    pub period: Duration,
    /// Relative deadline.
    pub deadline: Duration,
    /// What becomes of its jobs that are not finished when they should be.
    pub overrun: Overrun,
}

/// What makes a job urgent; the least goes first, and the lower task among equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// A number that is the task's.
    Fixed(u64),
    /// A number that is the task's, and those with the same number take turns.
    FixedInTurn(u64),
    /// The task's relative deadline.
    RelativeDeadline,
    /// The job's deadline.
    Deadline,
    /// The job's release.
    Release,
    /// Something that changes as it runs; not judged.
    Dynamic,
}

/// What a change makes of the tree when it takes effect: what it names, and no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeChange {
    /// Nothing: a task begins or ends.
    Nothing,
    /// The task is ordered otherwise from then on.
    Task {
        /// Which.
        task: TaskId,
        /// How, if that comes of what is named.
        rank: Option<Rank>,
        /// Its period.
        period: Option<Duration>,
        /// Its relative deadline.
        deadline: Option<Duration>,
    },
    /// The server begins, with the values that it has.
    Begins(usize),
    /// The server ends.
    Ends(usize),
    /// The server begins anew with another budget and period.
    Lengths {
        /// Which.
        server: usize,
        /// The budget.
        budget: Option<Duration>,
        /// The period.
        period: Option<Duration>,
    },
}

impl InTree {
    /// Whether it gets no more in any of its periods than was assumed of it: an overrun waits for its next period.
    pub(crate) fn is_held(&self) -> bool {
        self.overrun == Overrun::Stop
    }

    /// Its rank, as one number where that is the task's.
    pub(crate) fn fixed_rank(&self) -> Rank {
        match self.rank {
            Rank::RelativeDeadline => Rank::Fixed(self.deadline.as_nanos()),
            other => other,
        }
    }

    /// As it is from a change on.
    pub(super) fn alter(&mut self, rank: Option<Rank>, period: Option<Duration>, deadline: Option<Duration>) {
        self.rank = rank.unwrap_or(self.rank);
        self.deadline = new_deadline((self.period, self.deadline), period, deadline);
        self.period = period.unwrap_or(self.period);
    }
}

/// The relative deadline of a task with this period and deadline from a change on: what is named; else its new period, if it was its
/// period.
pub(crate) fn new_deadline(
    (old_period, old_deadline): (Duration, Duration),
    period: Option<Duration>,
    deadline: Option<Duration>,
) -> Duration {
    let implicit = period.filter(|_| old_deadline == old_period);
    deadline.or(implicit).unwrap_or(old_deadline)
}

impl ServerView {
    /// Whether there is a record whenever it has no budget, and one whenever it has some again. Other kinds forfeit their budget
    /// without a record, or are given it back in pieces.
    pub fn records_budget(&self) -> bool {
        self.supply.is_none_or(|(_, _, kind)| {
            matches!(kind, ServerKind::HardBandwidth | ServerKind::Deferrable) || kind.reads_counters()
        })
    }
}

impl TreeView {
    /// The servers that a task is in, the innermost first, without the root.
    pub fn above(&self, task: TaskId) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.tasks.get(task.index()).map_or(0, |task| task.server);
        std::iter::from_fn(move || {
            let here = at;
            at = self.servers.get(here).map_or(0, |server| server.parent);
            (here != 0).then_some(here)
        })
    }

    /// How many schedulers may have to decide, one after another, until a core does what it should: where each server has one, all
    /// the way up from the innermost to the root, and all the way down.
    pub fn schedulers(&self) -> u64 {
        let inside = |task: usize| self.above(TaskId(task as u16)).count() as u64;
        let deepest = (0..self.tasks.len()).map(inside).max().unwrap_or(0);
        if self.per_server {
            1 + 2 * deepest
        } else {
            1
        }
    }

    /// When the scheduler of the task's queue decided last, as far as records tell; decisions in the middle of which it lost the core are
    /// left out, since they may never have been made.
    pub(crate) fn last_look(&self, trace: &Trace, task: TaskId) -> Instant {
        let (server, queue) = (self.tasks[task.index()].server, self.queue(task));
        let same = |r: &Record| {
            let task = r.task.filter(|task| task.index() < self.tasks.len() && r.kind.is_policy());
            task.is_some_and(|task| self.tasks[task.index()].server == server && self.queue(task) == queue)
        };
        let decided = |records: &[Record]| {
            let mut looks = records.iter().enumerate().rev().filter(|(_, r)| same(r));
            let whole = looks.find(|(n, _)| {
                let rest = &records[*n..];
                let end = rest.iter().position(|r| r.kind == EventKind::Leave);
                let next = end.and_then(|end| rest.get(end + 1).map(|next| (&rest[end], next)));
                next.is_none_or(|(end, next)| next.kind != EventKind::Enter || next.time > end.time)
            });
            whole.map(|(_, r)| r.time)
        };
        trace.cores.iter().filter_map(|records| decided(records)).max().unwrap_or(Instant::ZERO)
    }

    /// The cores whose queue the task waits in.
    pub(crate) fn queue(&self, task: TaskId) -> CoreSet {
        let it = self.tasks[task.index()];
        let has = |queue: &&CoreSet| it.core.is_none_or(|core| queue.contains(core));
        self.servers[it.server].queues.iter().find(has).copied().unwrap_or(CoreSet::EMPTY)
    }

    /// These cores, and those that share queues with them, directly or by others: they go through changes together.
    pub(crate) fn together(&self, cores: CoreSet) -> CoreSet {
        self.joined(cores, &[])
    }

    /// These cores, and those that share queues with them, or are in one of these sets with them, directly or by others.
    pub(super) fn joined(&self, cores: CoreSet, sets: &[CoreSet]) -> CoreSet {
        let mut all = cores.bits();
        loop {
            let queues = self.servers.iter().flat_map(|server| &server.queues).chain(sets).map(|queue| queue.bits());
            let more = queues.filter(|queue| queue & all != 0).fold(all, |all, queue| all | queue);
            if more == all {
                return CoreSet::from_bits(all);
            }
            all = more;
        }
    }

    /// The servers at the start, on each core.
    pub(super) fn start(&self) -> Lengths {
        let one = |it: &ServerView| Length {
            there: !it.absent,
            parent: it.parent,
            lengths: it.supply.map(|(budget, period, _)| (budget, period)),
        };
        let servers: Vec<Length> = self.servers.iter().map(one).collect();
        let mut domains: Vec<(CoreSet, Vec<Length>)> = Vec::new();
        for core in self.servers.first().map_or(CoreSet::EMPTY, |root| root.cores).iter() {
            let cores = self.together(CoreSet::from_bits(1 << core.0));
            if !domains.iter().any(|(other, _)| *other == cores) {
                domains.push((cores, servers.clone()));
            }
        }
        Lengths(domains)
    }

    /// What the record changes, if it tells that a changes were applied.
    pub(super) fn change(&self, record: &Record) -> Option<TreeChange> {
        self.changes.get(record.job as usize).copied().filter(|_| record.kind == EventKind::ChangeApplied)
    }

    /// For each server on each core, from when on it had which budget and period. Each begins with a full budget and a new
    /// period.
    pub(super) fn phases(&self, trace: &Trace) -> Phases {
        let mut now = self.start();
        let mut all = HashMap::new();
        for (n, server) in self.servers.iter().enumerate() {
            for core in server.cores.iter() {
                all.insert((n, core), vec![(Instant::ZERO, now.of(n, core))]);
            }
        }
        in_order(trace, |record| {
            let Some(change) = self.change(record) else { return };
            for (server, core) in now.take(self, record.core, change) {
                all.entry((server, core)).or_default().push((record.time, now.of(server, core)));
            }
        });
        Phases(all)
    }
}

/// From when on a server has which budget and period; nothing if it is not there.
pub(super) type Phase = (Instant, Option<(Duration, Duration)>);

/// What each server is on each core, and when.
pub(super) struct Phases(HashMap<(usize, CoreId), Vec<Phase>>);

impl Phases {
    pub(super) fn of(&self, server: usize, core: usize) -> &[Phase] {
        self.0.get(&(server, CoreId(core as u8))).map_or(&[], Vec::as_slice)
    }
}

/// A server between two changes.
#[derive(Clone)]
struct Length {
    there: bool,
    parent: usize,
    lengths: Option<(Duration, Duration)>,
}

/// The servers between two changes, on the cores of each domain: whether each is there, and its budget and period.
pub(super) struct Lengths(Vec<(CoreSet, Vec<Length>)>);

impl Lengths {
    /// Budget and period of the server on the core, if it is there and all that it lies in.
    pub(super) fn of(&self, server: usize, core: CoreId) -> Option<(Duration, Duration)> {
        let (_, servers) = self.0.iter().find(|(cores, _)| cores.contains(core))?;
        let it = servers.get(server)?;
        let way = std::iter::successors(Some(it), |it| (it.parent != 0).then(|| &servers[it.parent]));
        it.lengths.filter(|_| way.into_iter().all(|it| it.there))
    }

    /// Makes a changes that were applied on the core and those that share queues with it. Tells which servers it begins, ends or
    /// begins anew, and on which of these cores.
    pub(super) fn take(&mut self, view: &TreeView, core: CoreId, change: TreeChange) -> Vec<(usize, CoreId)> {
        let (server, there, named) = match change {
            TreeChange::Nothing | TreeChange::Task { .. } => return Vec::new(),
            TreeChange::Begins(server) => (server, Some(true), (None, None)),
            TreeChange::Ends(server) => (server, Some(false), (None, None)),
            TreeChange::Lengths { server, budget, period } => (server, None, (budget, period)),
        };
        let Some((cores, servers)) = self.0.iter_mut().find(|(cores, _)| cores.contains(core)) else {
            return Vec::new();
        };
        let cores = *cores;
        let Some(it) = servers.get_mut(server) else { return Vec::new() };
        it.there = there.unwrap_or(it.there);
        it.lengths = it.lengths.map(|(budget, period)| (named.0.unwrap_or(budget), named.1.unwrap_or(period)));
        // With a server begins and ends what lies in it.
        let inside = |n: usize| {
            let mut way = std::iter::successors(Some(n), |n| (*n != 0).then(|| view.servers[*n].parent));
            way.any(|n| n == server)
        };
        let concerned = (0..view.servers.len()).filter(|n| *n == server || (there.is_some() && inside(*n)));
        let on =
            |n: usize| view.servers[n].cores.iter().filter(|core| cores.contains(*core)).map(move |core| (n, core));
        concerned.flat_map(on).collect()
    }
}
