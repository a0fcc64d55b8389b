//! A tree of servers as the rules need it, and what becomes of it while it runs.

use crate::Trace;
use tactus_record::{Kind, Record};
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
}

/// One server.
#[derive(Clone, Debug)]
pub struct ServerView {
    /// Place of the server that it is inside of; the root's is 0.
    pub parent: usize,
    /// Its cores; on each it has its whole budget.
    pub cores: CoreSet,
    /// How its cores share queues.
    pub queues: Vec<CoreSet>,
    /// Budget, period and what is promised of them; nothing for the root.
    pub supply: Option<(Duration, Duration, Bound)>,
    /// Whether it goes on without budget.
    pub background: bool,
    /// Whether its records tell whenever it has no budget; others lose it without a word, or get it back in pieces.
    pub tells: bool,
    /// Whether it is not there at the start: a change adds it.
    pub absent: bool,
}

/// What a kind of server promises that it never exceeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// A budget from each boundary of its periods to the next (periodic, polling, deferrable).
    Boundaries,
    /// Up to any instant, a budget for each period that has begun and one more (sporadic, hard bandwidth,
    /// priority-inheriting): a budget may be used late in one period and early in the next.
    Begun,
    /// Nothing in the short run (soft bandwidth; POSIX's).
    None,
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
    /// Relative deadline.
    pub deadline: Duration,
}

/// What makes a job urgent; the least goes first, and the lower task among equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// A number that is the task's.
    Fixed(u64),
    /// The job's deadline.
    Deadline,
    /// The job's release.
    Release,
    /// Something that changes as it runs; not judged.
    Changing,
}

/// What a change makes of the tree when it takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeChange {
    /// Nothing: a task begins or ends.
    Nothing,
    /// The task is ordered otherwise from then on.
    Task {
        /// Which.
        task: TaskId,
        /// How.
        rank: Rank,
        /// With this relative deadline.
        deadline: Duration,
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
        budget: Duration,
        /// The period.
        period: Duration,
    },
}

impl TreeView {
    /// The servers that a task is in, the innermost first, without the root.
    pub(super) fn above(&self, task: TaskId) -> impl Iterator<Item = usize> + '_ {
        let mut at = self.tasks.get(task.index()).map_or(0, |task| task.server);
        std::iter::from_fn(move || {
            let here = at;
            at = self.servers.get(here).map_or(0, |server| server.parent);
            (here != 0).then_some(here)
        })
    }

    /// The cores whose queue the task waits in.
    pub(crate) fn queue(&self, task: TaskId) -> CoreSet {
        let it = self.tasks[task.index()];
        let has = |queue: &&CoreSet| it.core.is_none_or(|core| queue.contains(core));
        self.servers[it.server].queues.iter().find(has).copied().unwrap_or(CoreSet::EMPTY)
    }

    /// The servers at the start.
    pub(super) fn start(&self) -> Lengths {
        let lengths = |it: &ServerView| it.supply.map(|(budget, period, _)| (budget, period));
        Lengths(self.servers.iter().map(|it| (!it.absent, lengths(it))).collect())
    }

    /// What the record changes, if it tells that a change took effect.
    pub(super) fn change(&self, record: &Record) -> Option<TreeChange> {
        self.changes.get(record.job as usize).copied().filter(|_| record.kind == Kind::Changed)
    }

    /// For each server, from when on it had which budget and period. Each begins with a full budget and a new period.
    pub(super) fn phases(&self, trace: &Trace) -> Vec<Vec<Phase>> {
        let mut now = self.start();
        let mut all: Vec<Vec<Phase>> = (0..self.servers.len()).map(|n| vec![(Instant::ZERO, now.of(n))]).collect();
        for record in trace.cores.iter().flatten() {
            if let Some(server) = self.change(record).and_then(|change| now.take(change)) {
                all[server].push((record.time, now.of(server)));
            }
        }
        all
    }
}

/// From when on a server has which budget and period; nothing if it is not there.
pub(super) type Phase = (Instant, Option<(Duration, Duration)>);

/// The servers between two changes: whether each is there, and its budget and period.
pub(super) struct Lengths(Vec<(bool, Option<(Duration, Duration)>)>);

impl Lengths {
    /// Budget and period of the server, if it is there.
    pub(super) fn of(&self, server: usize) -> Option<(Duration, Duration)> {
        self.0.get(server).and_then(|(there, lengths)| lengths.filter(|_| *there))
    }

    /// Makes the change. Tells which server it begins, ends or begins anew.
    pub(super) fn take(&mut self, change: TreeChange) -> Option<usize> {
        let (server, there, lengths) = match change {
            TreeChange::Nothing | TreeChange::Task { .. } => return None,
            TreeChange::Begins(server) => (server, Some(true), None),
            TreeChange::Ends(server) => (server, Some(false), None),
            TreeChange::Lengths { server, budget, period } => (server, None, Some((budget, period))),
        };
        let it = self.0.get_mut(server)?;
        *it = (there.unwrap_or(it.0), lengths.or(it.1));
        Some(server)
    }
}
