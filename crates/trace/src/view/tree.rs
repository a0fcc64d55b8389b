//! A tree of servers as a trace is read against it.

use super::{ceiling::CeilingView, plain};
use serde::{Deserialize, Serialize};
use tactus_task::{Overrun, ServerKind};
use tactus_time::{CoreId, CoreSet, Duration, TaskId};

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

/// One task.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct InTree {
    /// Place of its server.
    pub server: usize,
    /// The core, or one of the cores, whose queue it waits in; nothing where there is one queue.
    #[serde(with = "plain", default)]
    pub core: Option<CoreId>,
    /// How it is ordered among the others of its server.
    pub rank: Rank,
    /// Period.
    #[serde(with = "plain", rename = "period_ns")]
    pub period: Duration,
    /// Relative deadline.
    #[serde(with = "plain", rename = "deadline_ns")]
    pub deadline: Duration,
    /// What becomes of its jobs that are not finished when they should be.
    #[serde(with = "plain")]
    pub overrun: Overrun,
}

/// What makes a job urgent; the least goes first, and the lower task among equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// The server restarts with another budget and period.
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
    pub(crate) fn alter(&mut self, rank: Option<Rank>, period: Option<Duration>, deadline: Option<Duration>) {
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
    /// Whether its kind [records](ServerKind::records_budget) when it has budget.
    pub fn records_budget(&self) -> bool {
        self.supply.is_none_or(|(.., kind)| kind.records_budget())
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
    pub(crate) fn joined(&self, cores: CoreSet, sets: &[CoreSet]) -> CoreSet {
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
}
