//! Servers and queues as they are kept, so that their rules can be held against the trace again.

use serde::{Deserialize, Serialize};
use tactus_task::{SampledEvent, ServerKind};
use tactus_time::{CoreSet, Duration, TaskId};
use tactus_trace::check::{CeilingView, InTree, Rank, ServerView, TreeChange, TreeView};

/// [`TreeView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    servers: Vec<StoredServer>,
    tasks: Vec<InTree>,
    /// Left out where the system does not change while it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changes: Vec<StoredChange>,
    /// Left out where one scheduler decides for all servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    per_server: bool,
    /// Left out where jobs keep nothing from each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceilings: Option<CeilingView>,
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
    rank: Rank,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StoredChange {
    Nothing,
    Task { task: u16, rank: Option<Rank>, period_ns: Option<u64>, deadline_ns: Option<u64> },
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
        rank: server.rank,
    };
    let change = |change: &TreeChange| match *change {
        TreeChange::Nothing => StoredChange::Nothing,
        TreeChange::Task { task, rank, period, deadline } => StoredChange::Task {
            task: task.0,
            rank,
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
        tasks: tree.tasks.clone(),
        changes: tree.changes.iter().map(change).collect(),
        per_server: tree.per_server,
        ceilings: tree.ceilings.clone(),
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
    let few = |it: &CeilingView| [it.levels.len(), it.thresholds.len(), it.cores.len()] != [tasks; 3];
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
            rank: server.rank,
        })
    };
    let change = |change: StoredChange| match change {
        StoredChange::Nothing => TreeChange::Nothing,
        StoredChange::Task { task, rank, period_ns, deadline_ns } => TreeChange::Task {
            task: TaskId(task),
            rank,
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
        tasks: stored.tasks,
        changes: stored.changes.into_iter().map(change).collect(),
        per_server: stored.per_server,
        ceilings: stored.ceilings,
        line: Duration::from_nanos(stored.line_ns),
        misses: stored.misses,
        write_backs: stored.write_backs,
    })
}
