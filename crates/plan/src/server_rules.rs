//! From a set-up to what the rules of servers are judged against.

use tactus_policy::{
    Action, Alteration, Change, Clusters, Overrun, Part, Partitions, PolicyConfig, PolicySpec, Priorities,
    ReconfigurableTree, ResourceTree, ServerKind, Task, TaskOrder, TaskPlacement, Tree, Values,
};
use tactus_task::{KeptNumber, OrderBasis};
use tactus_time::{CoreSet, Duration};
use tactus_trace::check::{CeilingView, InTree, Rank, ResourceView, ServerView, TreeChange, TreeView};

/// What [`tactus_trace::check::servers`] needs to know of servers and queues; nothing under MC², which has rules of its own.
/// A set-up knows no names of servers, so they are empty.
pub fn tree_view(setup: &PolicyConfig) -> Option<TreeView> {
    let (tree, absent, changes): (_, &[Part], &[Change]) = match &setup.kind {
        PolicySpec::Servers(tree) => (tree, &[], &[]),
        PolicySpec::Partitions(Partitions { tree, .. }) => (tree, &[], &[]),
        PolicySpec::ReconfigurableTree(ReconfigurableTree { tree, absent, changes, .. }) => (tree, absent, changes),
        PolicySpec::Resources(ResourceTree { tree, .. }) => (tree, &[], &[]),
        plain => return plain_view(setup, plain),
    };
    let servers = tree.servers.iter().enumerate().map(|(n, server)| ServerView {
        name: String::new(),
        absent: absent.contains(&Part::Server(n as u16)),
        parent: usize::from(server.parent),
        cores: server.cores,
        queues: server.queues.clone(),
        supply: server.supply.map(|supply| (supply.budget, supply.period, supply.kind)),
        write_backs: server.supply.and_then(|supply| supply.write_backs),
        background: server.background,
        rank: server.supply.map_or(Rank::Dynamic, |supply| match supply.kind {
            // It is as urgent as the one for whom it works.
            ServerKind::PriorityInheriting => Rank::Dynamic,
            _ => {
                let (time, period, priority) = (supply.budget, supply.period, server.priority);
                let named = Alteration::from(Values { time, period, deadline: period, priority });
                match rank_by(tree.servers[usize::from(server.parent)].order, &named) {
                    // A server's deadline is its period.
                    Some(Rank::RelativeDeadline) => Rank::Fixed(period.as_nanos()),
                    rank => rank.unwrap_or(Rank::Dynamic),
                }
            }
        }),
    });
    let tasks = setup.tasks.iter().zip(&tree.places).map(|(task, place)| InTree {
        server: usize::from(place.server),
        core: task.core,
        rank: {
            let (time, period, deadline, priority) = (task.budget, task.period, task.deadline, place.priority);
            let named = Alteration::from(Values { time, period, deadline, priority });
            rank_by(tree.servers[usize::from(place.server)].order, &named).unwrap_or(Rank::Dynamic)
        },
        period: task.period,
        deadline: task.deadline,
        overrun: place.overrun,
    });
    let changes = changes.iter().map(|change| tree_change(tree, change));
    let (servers, tasks, changes) = (servers.collect(), tasks.collect(), changes.collect());
    Some(TreeView {
        servers,
        tasks,
        changes,
        per_server: false,
        ceilings: ceilings(setup),
        line: tree.line,
        misses: Vec::new(),
        write_backs: Vec::new(),
    })
}

/// What jobs that have begun keep from others.
fn ceilings(setup: &PolicyConfig) -> Option<CeilingView> {
    let PolicySpec::Resources(ResourceTree { tree, thresholds, resources, .. }) = &setup.kind else { return None };
    if resources.is_empty() && thresholds.iter().all(Option::is_none) {
        return None;
    }
    let order = tree.servers.first()?.order;
    let by_priority = |priority: u32| u64::from(u32::MAX - priority);
    let level = |(task, place): (&Task, &TaskPlacement)| match order {
        TaskOrder::FixedPriority => by_priority(place.priority),
        TaskOrder::RateMonotonic => task.period.as_nanos(),
        _ => task.deadline.as_nanos(),
    };
    Some(CeilingView {
        levels: setup.tasks.iter().zip(&tree.places).map(level).collect(),
        cores: setup.tasks.iter().map(|task| task.core).collect(),
        thresholds: thresholds.iter().map(|threshold| threshold.map(by_priority)).collect(),
        resources: resources
            .iter()
            .map(|resource| ResourceView {
                protocol: resource.protocol,
                withdrawn: resource.withdrawn,
                users: resource.users.iter().map(|user| user.task).collect(),
            })
            .collect(),
    })
}

/// How jobs of a task are ordered for which this is named; nothing if the order goes by something else of it.
fn rank_by(order: TaskOrder, named: &Alteration) -> Option<Rank> {
    let by_priority = |priority: u32| u64::from(u32::MAX - priority);
    match order.basis() {
        OrderBasis::Kept(KeptNumber::Priority) => named.priority.map(|priority| Rank::Fixed(by_priority(priority))),
        OrderBasis::Kept(KeptNumber::Period) => named.period.map(|period| Rank::Fixed(period.as_nanos())),
        OrderBasis::Kept(KeptNumber::Deadline) => Some(Rank::RelativeDeadline),
        OrderBasis::Kept(KeptNumber::Execution) => named.time.map(|time| Rank::Fixed(time.as_nanos())),
        OrderBasis::Kept(KeptNumber::Slack) => match (named.deadline, named.time) {
            (Some(deadline), Some(time)) => Some(Rank::Fixed(deadline.saturating_sub(time).as_nanos())),
            (None, None) => None,
            // The other half is not named: it is not followed further.
            _ => Some(Rank::Dynamic),
        },
        OrderBasis::Deadline => Some(Rank::Deadline),
        OrderBasis::Release => Some(Rank::Release),
        OrderBasis::PrioritiesWithTurns => named.priority.map(|priority| Rank::FixedInTurn(by_priority(priority))),
        OrderBasis::Laxity | OrderBasis::LaxityAtRelease | OrderBasis::Turns => Some(Rank::Dynamic),
    }
}

fn tree_change(tree: &Tree, change: &Change) -> TreeChange {
    match (change.part, change.action) {
        (Part::Task(task), Action::Alter(named)) => {
            let order = tree.servers[usize::from(tree.places[task.index()].server)].order;
            let Alteration { period, deadline, .. } = named;
            TreeChange::Task { task, rank: rank_by(order, &named), period, deadline }
        }
        (Part::Task(_), Action::Add | Action::Remove) => TreeChange::Nothing,
        (Part::Server(n), Action::Add) => TreeChange::Begins(usize::from(n)),
        (Part::Server(n), Action::Remove) => TreeChange::Ends(usize::from(n)),
        (Part::Server(n), Action::Alter(Alteration { time: budget, period, .. })) => {
            TreeChange::Lengths { server: usize::from(n), budget, period }
        }
    }
}

/// The view of an order without servers: a root with one queue for each core or cluster, or one for all.
fn plain_view(setup: &PolicyConfig, kind: &PolicySpec) -> Option<TreeView> {
    let fixed: Option<&dyn Fn(usize) -> u64> = match kind {
        PolicySpec::PartitionedRm | PolicySpec::ClusteredRm(_) | PolicySpec::GlobalRm => {
            Some(&|n| setup.tasks[n].period.as_nanos())
        }
        PolicySpec::PartitionedDm | PolicySpec::ClusteredDm(_) | PolicySpec::GlobalDm => {
            Some(&|n| setup.tasks[n].deadline.as_nanos())
        }
        PolicySpec::PartitionedFp(Priorities(given))
        | PolicySpec::ClusteredFp(Clusters { priorities: Priorities(given), .. })
        | PolicySpec::GlobalFp(Priorities(given)) => Some(&|n| u64::from(u32::MAX - given[n])),
        PolicySpec::PartitionedEdf | PolicySpec::ClusteredEdf(_) | PolicySpec::GlobalEdf => None,
        _ => return None,
    };
    let global =
        matches!(kind, PolicySpec::GlobalRm | PolicySpec::GlobalDm | PolicySpec::GlobalFp(_) | PolicySpec::GlobalEdf);
    let cores = CoreSet::first(setup.cores);
    let queues = match kind.clusters() {
        Some(clusters) => clusters.sets.clone(),
        None if global => vec![cores],
        None => cores.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect(),
    };
    let (background, absent, rank) = (false, false, Rank::Dynamic);
    let name = String::new();
    let root = ServerView { name, parent: 0, cores, queues, supply: None, write_backs: None, background, absent, rank };
    let tasks = setup.tasks.iter().enumerate().map(|(n, task)| InTree {
        server: 0,
        core: task.core.filter(|_| !global),
        rank: fixed.map_or(Rank::Deadline, |fixed| Rank::Fixed(fixed(n))),
        period: task.period,
        deadline: task.deadline,
        overrun: Overrun::Continue,
    });
    let tasks = tasks.collect();
    Some(TreeView {
        servers: vec![root],
        tasks,
        changes: Vec::new(),
        per_server: false,
        ceilings: None,
        line: Duration::ZERO,
        misses: Vec::new(),
        write_backs: Vec::new(),
    })
}
