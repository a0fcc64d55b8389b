//! From a system file to a policy's set-up: the one place where that step is taken.

use crate::{reconfiguration, resources};
use tactus_model::{self as model, Policy, System};
use tactus_policy::{
    Clusters, Dual, Mc2, Mixed, MixedOrder, Overrun, Partitions, PolicyConfig, PolicySpec, Priorities, Release,
    ResourceTree, Server, Supply, Table, Task, TaskOrder, TaskPlacement, Tree,
};
use tactus_time::{CoreSet, Duration, Level};

/// What the policy of `system` is made from.
///
/// `tables` are the level-A tables in core order, which MC² needs; other policies leave them unused. `allowances` are
/// what each task's enforced budget has on top for the system's work on its jobs' behalf, by `TaskId`; a task that they
/// do not reach to has none, so that there may be none at all on a machine without costs.
///
/// A task's budget is its execution time as assumed at its own level, and its allowance where budgets are enforced. A
/// task of level D has none, whatever the file says, since nothing at that level is held to one.
///
/// Changes of a system that has some are all refused: what admission says of them is for [`setup_with`].
pub fn setup(system: &System, tables: Vec<Table>, allowances: &[Duration]) -> PolicyConfig {
    setup_with(system, tables, allowances, &[])
}

/// What admission says of a change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Admission {
    /// It is admitted.
    pub admitted: bool,
    /// It waits until its server is empty.
    pub drains: bool,
    /// What each task's enforced budget has on top from then on, by `TaskId`; as in [`setup`], none where they do not reach to.
    pub allowances: Vec<Duration>,
    /// The level-A table of each core from then on, where there are some.
    pub tables: Vec<Table>,
}

/// As [`setup`], with what admission says of each change, in their order; of which nothing is said, that is refused.
pub fn setup_with(system: &System, tables: Vec<Table>, allowances: &[Duration], rulings: &[Admission]) -> PolicyConfig {
    let allowance_of = |n: usize| allowance(system, allowances, n);
    let kind = match system.policy {
        Policy::PartitionedRm => PolicySpec::PartitionedRm,
        Policy::PartitionedEdf => PolicySpec::PartitionedEdf,
        Policy::GlobalRm => PolicySpec::GlobalRm,
        Policy::GlobalEdf => PolicySpec::GlobalEdf,
        Policy::Ordered { spread, order } => ordered(system, spread, order),
        Policy::Partitions => partitions(system),
        Policy::Mixed(scheme) => PolicySpec::Mixed(mixed(system, scheme, allowances)),
        Policy::Mc2 { enforce, slack_shifting } => {
            PolicySpec::Mc2(Mc2 { enforce, slack_shifting, allowance: Duration::ZERO, tables })
        }
    };
    let tasks = system.tasks.iter().enumerate().map(|(n, task)| {
        let level = task.level.unwrap_or(Level::A);
        let budget = budget(task, level, allowance_of(n));
        let (core, offset, period, deadline) = (task.core, task.offset, task.period, task.deadline);
        Task { level, core, offset, period, deadline, budget }
    });
    let kind = match kind {
        PolicySpec::Servers(tree) if !system.scheduling.changes.is_empty() || !system.slots.is_empty() => {
            PolicySpec::ReconfigurableTree(reconfiguration::changing(system, tree, rulings))
        }
        PolicySpec::Mc2(mc2) if !system.scheduling.changes.is_empty() => {
            PolicySpec::ReconfigurableMc2(reconfiguration::mc2(system, mc2, allowances, rulings))
        }
        PolicySpec::Mixed(mixed) if !system.scheduling.changes.is_empty() => {
            PolicySpec::ReconfigurableMixed(reconfiguration::mixed(system, mixed, allowances, rulings))
        }
        kind => kind,
    };
    PolicyConfig { cores: system.cores, kind, tasks: tasks.collect() }
}

/// What a task's budget has on top, where budgets are enforced.
pub(crate) fn allowance(system: &System, allowances: &[Duration], n: usize) -> Duration {
    let enforced = matches!(system.policy, Policy::Mc2 { enforce: true, .. } | Policy::Mixed(_));
    allowances.get(n).copied().filter(|_| enforced).unwrap_or(Duration::ZERO)
}

/// A task's budget at a level.
pub(crate) fn budget(task: &model::Task, level: Level, allowance: Duration) -> Duration {
    match level {
        Level::D => Duration::ZERO,
        _ => {
            let time = task.execution[level.index()].unwrap_or(Duration::ZERO);
            time.checked_add(allowance).unwrap_or(Duration::MAX)
        }
    }
}

/// Two levels of criticality: a LO time for each task.
fn mixed(system: &System, scheme: model::Mixed, allowances: &[Duration]) -> Mixed {
    let order = match scheme {
        model::Mixed::Amc => MixedOrder::FixedPriority,
        model::Mixed::EdfVd => MixedOrder::VirtualDeadline,
    };
    let tasks = system.tasks.iter().zip(system.virtual_deadlines()).enumerate();
    let dual = |(n, (task, virtual_deadline)): (usize, (&model::Task, Duration))| Dual {
        low: budget(task, Level::B, allowance(system, allowances, n)),
        priority: system.scheduling.places.get(n).map_or(0, |place| place.priority),
        virtual_deadline,
    };
    Mixed { order, tasks: tasks.map(dual).collect() }
}

/// Partitions: a tree whose servers have the windows of the system's table.
fn partitions(system: &System) -> PolicySpec {
    let model::Partitions { frame, list, switches, .. } = &system.scheduling.partitions;
    // The root has no windows.
    let windows = std::iter::once(Vec::new()).chain(list.iter().map(|partition| partition.windows.clone()));
    let tree = tree(system, model::Migration::Partitioned, TaskOrder::FixedPriority);
    PolicySpec::Partitions(Partitions { tree, frame: *frame, windows: windows.collect(), switches: switches.clone() })
}

/// Any other order, with servers or without.
fn ordered(system: &System, spread: model::Migration, order: TaskOrder) -> PolicySpec {
    let model::Scheduling { servers, places, .. } = &system.scheduling;
    let usual = |place: &model::TaskPlacement| {
        place.server.is_none()
            && place.overrun == Overrun::Continue
            && place.release == Release::Periodic
            && place.threshold.is_none()
    };
    let alone = servers.is_empty()
        && system.scheduling.changes.is_empty()
        && system.scheduling.sections.is_empty()
        && system.scheduling.waits.is_empty()
        && system.scheduling.events.is_empty();
    let plain = alone && places.iter().all(usual);
    match (spread, order) {
        (model::Migration::Partitioned, TaskOrder::DeadlineMonotonic) if plain => return PolicySpec::PartitionedDm,
        (model::Migration::Global, TaskOrder::DeadlineMonotonic) if plain => return PolicySpec::GlobalDm,
        (model::Migration::Partitioned, TaskOrder::FixedPriority) if plain => {
            return PolicySpec::PartitionedFp(priorities(system));
        }
        (model::Migration::Global, TaskOrder::FixedPriority) if plain => {
            return PolicySpec::GlobalFp(priorities(system));
        }
        _ => {}
    }
    let all = CoreSet::first(system.cores);
    if spread == model::Migration::Clustered && plain {
        let clusters = |priorities| Clusters { sets: system.scheduling.queues(None, spread, all), priorities };
        let none = || clusters(Priorities(Vec::new()));
        match order {
            TaskOrder::RateMonotonic => return PolicySpec::ClusteredRm(none()),
            TaskOrder::DeadlineMonotonic => return PolicySpec::ClusteredDm(none()),
            TaskOrder::EarliestDeadline => return PolicySpec::ClusteredEdf(none()),
            TaskOrder::FixedPriority => return PolicySpec::ClusteredFp(clusters(priorities(system))),
            _ => {}
        }
    }
    let tree = tree(system, spread, order);
    match resources::of(system) {
        Some((thresholds, resources)) => {
            let events = system.scheduling.events.clone();
            PolicySpec::Resources(ResourceTree { tree, thresholds, resources, events })
        }
        None => PolicySpec::Servers(tree),
    }
}

/// The servers of a system and where its tasks are.
fn tree(system: &System, spread: model::Migration, order: TaskOrder) -> Tree {
    let model::Scheduling { quantum, servers, places, .. } = &system.scheduling;
    let all = CoreSet::first(system.cores);
    let queues = |server: Option<&model::Server>| system.scheduling.queues(server, spread, all);
    let root = Server {
        parent: 0,
        cores: all,
        order,
        queues: queues(None),
        quantum: *quantum,
        supply: None,
        priority: 0,
        background: false,
    };
    // The root is place 0, so that a server's place is one more than in the file.
    let inside = servers.iter().map(|server| Server {
        parent: server.parent.map_or(0, |parent| parent as u16 + 1),
        cores: server.cores,
        order: server.order,
        queues: queues(Some(server)),
        quantum: server.quantum,
        supply: Some(Supply {
            kind: server.kind,
            budget: server.budget,
            period: server.period,
            write_backs: server.write_backs,
        }),
        priority: server.priority,
        background: server.background,
    });
    let place = |n: usize| {
        let place = places.get(n).copied().unwrap_or_default();
        TaskPlacement {
            server: place.server.map_or(0, |server| server as u16 + 1),
            priority: place.priority,
            overrun: place.overrun,
        }
    };
    let servers = std::iter::once(root).chain(inside).collect();
    let releases: Vec<Release> = places.iter().map(|place| place.release).collect();
    let timed = releases.iter().all(|release| *release == Release::Periodic);
    let releases = if timed { Vec::new() } else { releases };
    let some = !system.scheduling.waits.is_empty() || !system.scheduling.events.is_empty();
    let waits = (0..system.tasks.len()).filter(|_| some).map(|n| system.scheduling.wait_limit(n)).collect();
    let line = system.platform.memory.map_or(Duration::ZERO, |memory| memory.line);
    let places = (0..system.tasks.len()).map(place).collect();
    Tree { servers, places, releases, waits, line, seed: system.seed }
}

/// The tasks' priorities as the file gives them.
fn priorities(system: &System) -> Priorities {
    let of = |n: usize| system.scheduling.places.get(n).map_or(0, |place| place.priority);
    Priorities((0..system.tasks.len()).map(of).collect())
}
