//! Servers and queues as they are kept, so that their rules can be held against the trace again.

use serde::{Deserialize, Serialize};
use tactus_task::{Overrun, ResourceProtocol, SampledEvent, ServerKind};
use tactus_time::{CoreId, CoreSet, Duration, TaskId};
use tactus_trace::check::{CeilingView, InTree, Rank, ResourceView, ServerView, TreeChange, TreeView};

/// [`TreeView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    servers: Vec<StoredServer>,
    tasks: Vec<StoredPlace>,
    /// Left out where the system does not change while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<StoredChange>,
    /// Left out where one scheduler decides for all servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    per_server: bool,
    /// Left out where jobs keep nothing from each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceilings: Option<StoredCeilings>,
    /// Left out where no budget is one of misses.
    #[serde(default, skip_serializing_if = "is_zero")]
    line_ns: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    misses: Vec<Option<u32>>,
    /// Left out where nobody says how many lines jobs make memory take back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    write_backs: Vec<Option<u32>>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize, Deserialize)]
struct StoredCeilings {
    levels: Vec<u64>,
    thresholds: Vec<Option<u64>>,
    cores: Vec<Option<u8>>,
    /// Left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    resources: Vec<StoredResource>,
}

#[derive(Serialize, Deserialize)]
struct StoredResource {
    /// Its index in [`ResourceProtocol::ALL`].
    protocol: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    withdrawn: bool,
    users: Vec<u16>,
}

impl StoredCeilings {
    fn of(view: &CeilingView) -> StoredCeilings {
        let resource = |it: &ResourceView| StoredResource {
            protocol: ResourceProtocol::ALL.iter().position(|protocol| *protocol == it.protocol).unwrap_or(0),
            withdrawn: it.withdrawn,
            users: it.users.iter().map(|user| user.0).collect(),
        };
        StoredCeilings {
            levels: view.levels.clone(),
            thresholds: view.thresholds.clone(),
            cores: view.cores.iter().map(|core| core.map(|core| core.0)).collect(),
            resources: view.resources.iter().map(resource).collect(),
        }
    }

    fn view(self) -> CeilingView {
        let resource = |it: StoredResource| ResourceView {
            protocol: ResourceProtocol::ALL.get(it.protocol).copied().unwrap_or(ResourceProtocol::NonPreemptive),
            withdrawn: it.withdrawn,
            users: it.users.into_iter().map(TaskId).collect(),
        };
        CeilingView {
            levels: self.levels,
            thresholds: self.thresholds,
            cores: self.cores.into_iter().map(|core| core.map(CoreId)).collect(),
            resources: self.resources.into_iter().map(resource).collect(),
        }
    }
}

/// Sets of cores are numbers whose bit `n` stands for core `n`.
#[derive(Serialize, Deserialize)]
struct StoredServer {
    #[serde(default)]
    name: String,
    parent: usize,
    cores: u8,
    queues: Vec<u8>,
    supply: Option<StoredSupply>,
    background: bool,
    #[serde(default)]
    absent: bool,
    rank: StoredRank,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StoredChange {
    Nothing,
    Task { task: u16, rank: Option<StoredRank>, period_ns: Option<u64>, deadline_ns: Option<u64> },
    Begins { server: usize },
    Ends { server: usize },
    Lengths { server: usize, budget_ns: Option<u64>, period_ns: Option<u64> },
}

#[derive(Serialize, Deserialize)]
struct StoredSupply {
    budget_ns: u64,
    period_ns: u64,
    kind: String,
    /// What is counted, where it gives way to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    /// Left out where there is no budget of lines written back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    write_backs_ns: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct StoredPlace {
    server: usize,
    core: Option<u8>,
    rank: StoredRank,
    period_ns: u64,
    deadline_ns: u64,
    /// The place in [`Overrun::ALL`].
    overrun: u8,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredRank {
    Fixed(u64),
    FixedInTurn(u64),
    RelativeDeadline,
    Deadline,
    Release,
    Dynamic,
}

impl StoredRank {
    fn of(rank: Rank) -> StoredRank {
        match rank {
            Rank::Fixed(number) => StoredRank::Fixed(number),
            Rank::FixedInTurn(number) => StoredRank::FixedInTurn(number),
            Rank::RelativeDeadline => StoredRank::RelativeDeadline,
            Rank::Deadline => StoredRank::Deadline,
            Rank::Release => StoredRank::Release,
            Rank::Dynamic => StoredRank::Dynamic,
        }
    }

    fn rank(self) -> Rank {
        match self {
            StoredRank::Fixed(number) => Rank::Fixed(number),
            StoredRank::FixedInTurn(number) => Rank::FixedInTurn(number),
            StoredRank::RelativeDeadline => Rank::RelativeDeadline,
            StoredRank::Deadline => Rank::Deadline,
            StoredRank::Release => Rank::Release,
            StoredRank::Dynamic => Rank::Dynamic,
        }
    }
}

/// What is kept of a tree.
pub(super) fn store(tree: &TreeView) -> Stored {
    let server = |server: &ServerView| StoredServer {
        name: server.name.clone(),
        parent: server.parent,
        cores: server.cores.bits(),
        queues: server.queues.iter().map(|queue| queue.bits()).collect(),
        supply: server.supply.map(|(budget, period, kind)| StoredSupply {
            budget_ns: budget.as_nanos(),
            period_ns: period.as_nanos(),
            kind: kind.key().to_owned(),
            event: kind.sampled().map(|event| event.key().to_owned()),
            write_backs_ns: server.write_backs.map(Duration::as_nanos),
        }),
        background: server.background,
        absent: server.absent,
        rank: StoredRank::of(server.rank),
    };
    let place = |task: &InTree| StoredPlace {
        server: task.server,
        core: task.core.map(|core| core.0),
        rank: StoredRank::of(task.rank),
        period_ns: task.period.as_nanos(),
        deadline_ns: task.deadline.as_nanos(),
        overrun: Overrun::ALL.iter().position(|it| *it == task.overrun).unwrap_or(0) as u8,
    };
    let change = |change: &TreeChange| match *change {
        TreeChange::Nothing => StoredChange::Nothing,
        TreeChange::Task { task, rank, period, deadline } => StoredChange::Task {
            task: task.0,
            rank: rank.map(StoredRank::of),
            period_ns: period.map(Duration::as_nanos),
            deadline_ns: deadline.map(Duration::as_nanos),
        },
        TreeChange::Begins(server) => StoredChange::Begins { server },
        TreeChange::Ends(server) => StoredChange::Ends { server },
        TreeChange::Lengths { server, budget, period } => {
            let [budget_ns, period_ns] = [budget, period].map(|length| length.map(Duration::as_nanos));
            StoredChange::Lengths { server, budget_ns, period_ns }
        }
    };
    Stored {
        servers: tree.servers.iter().map(server).collect(),
        tasks: tree.tasks.iter().map(place).collect(),
        changes: tree.changes.iter().map(change).collect(),
        per_server: tree.per_server,
        ceilings: tree.ceilings.as_ref().map(StoredCeilings::of),
        line_ns: tree.line.as_nanos(),
        misses: tree.misses.clone(),
        write_backs: tree.write_backs.clone(),
    }
}

/// The tree again.
///
/// # Errors
/// If a server lies inside one that does not come before it, or a task inside one that is not there, or there are not so
/// many tasks or changes.
pub(super) fn restore(stored: Stored, tasks: usize, changes: usize) -> Result<TreeView, String> {
    let count = stored.servers.len();
    if stored.changes.len() != changes {
        return Err(format!("{changes} changes, and {} of servers and queues: run it again", stored.changes.len()));
    }
    if stored.tasks.len() != tasks {
        return Err(format!("{tasks} tasks, and {} places of tasks among the servers", stored.tasks.len()));
    }
    let few = |it: &StoredCeilings| [it.levels.len(), it.thresholds.len(), it.cores.len()] != [tasks; 3];
    if stored.ceilings.as_ref().is_some_and(few) {
        return Err(format!("{tasks} tasks, and ceilings of another number of them"));
    }
    if let Some(n) = (1..count).find(|n| stored.servers[*n].parent >= *n) {
        return Err(format!("server {n} lies inside one that does not come before it"));
    }
    if let Some(n) = stored.tasks.iter().position(|task| task.server >= count) {
        return Err(format!("task {n} is in a server that is not there"));
    }
    let supply = |supply: StoredSupply| {
        let StoredSupply { budget_ns, period_ns, kind, event, write_backs_ns: _ } = supply;
        let counts = |it: &ServerKind| it.sampled().map(SampledEvent::key) == event.as_deref();
        let is_it = |it: &ServerKind| it.key() == kind && counts(it);
        let Some(kind) = ServerKind::ALL.into_iter().find(is_it) else {
            return Err(format!("there is no kind of server `{kind}`"));
        };
        Ok((Duration::from_nanos(budget_ns), Duration::from_nanos(period_ns), kind))
    };
    let server = |server: StoredServer| {
        Ok::<_, String>(ServerView {
            name: server.name,
            parent: server.parent,
            cores: CoreSet::from_bits(server.cores),
            queues: server.queues.into_iter().map(CoreSet::from_bits).collect(),
            write_backs: server.supply.as_ref().and_then(|it| it.write_backs_ns).map(Duration::from_nanos),
            supply: server.supply.map(supply).transpose()?,
            background: server.background,
            absent: server.absent,
            rank: server.rank.rank(),
        })
    };
    let place = |task: StoredPlace| {
        let overrun = Overrun::ALL.get(usize::from(task.overrun));
        Ok::<_, String>(InTree {
            server: task.server,
            core: task.core.map(CoreId),
            rank: task.rank.rank(),
            period: Duration::from_nanos(task.period_ns),
            deadline: Duration::from_nanos(task.deadline_ns),
            overrun: *overrun.ok_or_else(|| format!("no rule for overruns has the number {}", task.overrun))?,
        })
    };
    let change = |change: StoredChange| match change {
        StoredChange::Nothing => TreeChange::Nothing,
        StoredChange::Task { task, rank, period_ns, deadline_ns } => TreeChange::Task {
            task: TaskId(task),
            rank: rank.map(StoredRank::rank),
            period: period_ns.map(Duration::from_nanos),
            deadline: deadline_ns.map(Duration::from_nanos),
        },
        StoredChange::Begins { server } => TreeChange::Begins(server),
        StoredChange::Ends { server } => TreeChange::Ends(server),
        StoredChange::Lengths { server, budget_ns, period_ns } => {
            let [budget, period] = [budget_ns, period_ns].map(|ns| ns.map(Duration::from_nanos));
            TreeChange::Lengths { server, budget, period }
        }
    };
    Ok(TreeView {
        servers: stored.servers.into_iter().map(server).collect::<Result<_, _>>()?,
        tasks: stored.tasks.into_iter().map(place).collect::<Result<_, _>>()?,
        changes: stored.changes.into_iter().map(change).collect(),
        per_server: stored.per_server,
        ceilings: stored.ceilings.map(StoredCeilings::view),
        line: Duration::from_nanos(stored.line_ns),
        misses: stored.misses,
        write_backs: stored.write_backs,
    })
}
