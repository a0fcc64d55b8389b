//! Random systems that change while they run.

use super::Entry;
use proptest::prelude::*;
use tactus_policy::{
    Action, Alteration, Change, DualNow, Mc2Now, Overrun, Part, PolicyConfig, PolicySpec, Protocol, Reconfigurable,
    ReconfigurableTree, Server, ServerKind, Supply, Task, TaskOrder, TaskPlacement, Tree, Values,
};
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

/// The orders that servers know.
pub const ORDERS: [TaskOrder; 4] =
    [TaskOrder::FixedPriority, TaskOrder::RateMonotonic, TaskOrder::DeadlineMonotonic, TaskOrder::EarliestDeadline];
/// The root of one core.
pub fn root(order: TaskOrder) -> Server {
    let one = CoreSet::first(1);
    Server {
        parent: 0,
        cores: one,
        order,
        queues: vec![one],
        quantum: ns(1),
        supply: None,
        priority: 0,
        background: false,
    }
}

/// Some of these parameters: the bits of `which` name them.
pub fn some_of(which: u8, Values { time, period, deadline, priority }: Values) -> Alteration {
    let named = |bit: u8| which & bit != 0;
    Alteration {
        time: Some(time).filter(|_| named(1) || which & 15 == 0),
        period: Some(period).filter(|_| named(2)),
        deadline: Some(deadline).filter(|_| named(4)),
        priority: Some(priority).filter(|_| named(8)),
    }
}

/// What a slow machine makes of an alteration: field by field, and a deadline that was the period follows it.
pub fn altered(before: Values, named: Alteration) -> Values {
    let mut after = before;
    if let Some(period) = named.period {
        after.period = period;
        if before.deadline == before.period {
            after.deadline = period;
        }
    }
    if let Some(deadline) = named.deadline {
        after.deadline = deadline;
    }
    if let Some(time) = named.time {
        after.time = time;
    }
    if let Some(priority) = named.priority {
        after.priority = priority;
    }
    after
}

/// Nanoseconds.
pub fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// Two levels of criticality on up to two cores, with periods from `shortest` to four times that, and changes up to `end`. Each
/// change brings some of the tasks of its core new budgets and virtual deadlines.
pub fn changing_mixed(shortest: u64, end: u64) -> impl Strategy<Value = PolicyConfig> {
    let task = (0u8..2, 0u8..2, 0u64..10, shortest..shortest * 4, 1u64..6, any::<bool>());
    let change = (0..end, any::<u16>(), 0u8..3, (1u64..6, shortest..shortest * 4, 0u32..5), 0u8..10, any::<u64>());
    (any::<bool>(), prop::collection::vec(task, 1..7), prop::collection::vec(change, 0..8)).prop_map(
        move |(deadlines, drawn, mut changes)| {
            let tasks: Vec<Task> = drawn
                .iter()
                .map(|(core, level, offset, period, budget, _)| Task {
                    level: if *level == 0 { Level::A } else { Level::B },
                    core: Some(CoreId(*core)),
                    offset: ns(*offset),
                    period: ns(*period),
                    deadline: ns(*period),
                    budget: ns(*budget),
                })
                .collect();
            let absent = drawn.iter().enumerate().filter(|(_, task)| !task.5).map(|(n, _)| TaskId(n as u16));
            changes.sort_by_key(|change| change.0);
            let mut effects = Vec::new();
            let change =
                |(at, part, action, (time, period, priority), admitted, draw): (_, u16, _, (u64, _, _), _, _)| {
                    let own = usize::from(part) % tasks.len();
                    let (time, period) = (ns(time), ns(period));
                    let action = match action {
                        0 => Action::Add,
                        1 => Action::Remove,
                        _ => Action::Alter(some_of(draw as u8, Values { time, period, deadline: period, priority })),
                    };
                    let mut draw: u64 = draw;
                    let mut next = |most: u64| {
                        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        1 + (draw >> 33) % most
                    };
                    let here = tasks.iter().enumerate().filter(|(_, task)| task.core == tasks[own].core);
                    let mut effect = Vec::new();
                    for (n, task) in here {
                        if next(3) > 1 {
                            let own = next(6);
                            let low = if task.level == Level::A { next(own) } else { own };
                            let virtual_deadline = ns(next(task.deadline.as_nanos()));
                            // A task that is not critical has one time.
                            let (first, second) = match task.level {
                                Level::A => (next(4) > 1, next(4) > 1),
                                _ => (true, true),
                            };
                            effect.push(DualNow {
                                task: TaskId(n as u16),
                                low: Some(ns(low)).filter(|_| first),
                                own: Some(ns(own)).filter(|_| second),
                                virtual_deadline: Some(virtual_deadline).filter(|_| next(3) > 1),
                            });
                        }
                    }
                    effects.push(effect);
                    Change {
                        at: ns(at),
                        part: Part::Task(TaskId(own as u16)),
                        action,
                        admitted: admitted > 0,
                        drains: true,
                        depends: next(3) == 1,
                    }
                };
            let changes: Vec<Change> = changes.into_iter().map(change).collect();
            let policy = super::systems::mixed(deadlines, &tasks);
            let absent = absent.collect();
            let all = Reconfigurable { policy, absent, changes, effects, protocol: Protocol::IdleInstant };
            PolicyConfig { cores: 2, kind: PolicySpec::ReconfigurableMixed(all), tasks }
        },
    )
}

/// MC² of these tasks, at first without some of them, and changes up to `end`. Each brings some tasks new budgets, and at level A its core a
/// new table.
pub fn changing_mc2(end: u64) -> impl Strategy<Value = (PolicyConfig, Vec<u64>)> {
    let change = (0..end, any::<u16>(), 0u8..3, (1u64..6, 6u64..30), 0u8..10, any::<u64>());
    let shape = prop::collection::vec(0u64..60, 7..20);
    let changes = prop::collection::vec((change, shape), 0..7);
    (super::levels::systems(), prop::collection::vec(any::<bool>(), 12), changes).prop_map(
        |((setup, most), there, mut drawn)| {
            let PolicySpec::Mc2(policy) = setup.kind else { panic!("{:?}", setup.kind) };
            let (cores, mut tasks) = (setup.cores, setup.tasks);
            // Load enough is left for cores to become quiet.
            tasks.iter_mut().for_each(|task| {
                task.period = task.period * 2;
                task.deadline = task.deadline * 2;
            });
            drawn.sort_by_key(|(change, _)| change.0);
            let (mut changes, mut effects) = (Vec::new(), Vec::new());
            for ((at, part, action, (time, period), admitted, draw), shape) in drawn {
                let own = usize::from(part) % tasks.len();
                let (task, time, period) = (tasks[own], ns(time), ns(period));
                let action = match action {
                    0 => Action::Add,
                    1 => Action::Remove,
                    _ => Action::Alter(some_of(
                        (draw >> 8) as u8,
                        Values { time, period, deadline: period, priority: 0 },
                    )),
                };
                let other = (draw % tasks.len() as u64) as usize;
                let mut budgets = vec![(TaskId(own as u16), time)];
                if other != own && draw & 64 != 0 {
                    budgets.push((TaskId(other as u16), ns(1 + draw % 5)));
                }
                for (n, budget) in &mut budgets {
                    if tasks[n.index()].level == Level::D {
                        *budget = Duration::ZERO;
                    }
                }
                let fresh = super::levels::tables(cores, &tasks, &shape);
                let tables = match task.core.filter(|_| task.level == Level::A) {
                    Some(core) => vec![(core, fresh[core.index()].clone())],
                    None => Vec::new(),
                };
                effects.push(Mc2Now { budgets, tables });
                let part = Part::Task(TaskId(own as u16));
                let depends = draw & 128 != 0;
                changes.push(Change { at: ns(at), part, action, admitted: admitted > 0, drains: true, depends });
            }
            let absent = (0..tasks.len()).filter(|n| !there[*n]).map(|n| TaskId(n as u16)).collect();
            let all = Reconfigurable { policy, absent, changes, effects, protocol: Protocol::IdleInstant };
            (PolicyConfig { cores, kind: PolicySpec::ReconfigurableMc2(all), tasks }, most)
        },
    )
}

/// Tasks and up to `servers` servers, with periods from `shortest` to four times that, and changes up to `end`.
pub fn changing(shortest: u64, servers: usize, end: u64) -> impl Strategy<Value = PolicyConfig> {
    let server = (super::trees::kinds(), 1u64..6, shortest..shortest * 4, 0u32..5);
    let task = (any::<u16>(), 0u64..10, shortest..shortest * 4, 1u64..4, 0u32..5, any::<bool>());
    let values = (1u64..4, shortest..shortest * 4, 0u32..5, any::<u8>());
    let change = (0..end, any::<u16>(), 0u8..3, values, 0u8..10, any::<bool>());
    (
        0usize..4,
        prop::collection::vec(server, 0..=servers),
        prop::collection::vec(task, 1..6),
        prop::collection::vec(change, 0..8),
    )
        .prop_map(move |(order, servers, tasks, mut changes)| {
            let root = root(ORDERS[order]);
            let mut tree = vec![root.clone()];
            tree.extend(servers.iter().map(|(kind, budget, period, priority)| Server {
                supply: Some(Supply {
                    kind: *kind,
                    budget: ns(*budget.min(period)),
                    period: ns(*period),
                    write_backs: None,
                }),
                priority: *priority,
                order: TaskOrder::EarliestDeadline,
                ..root.clone()
            }));
            let mut absent = Vec::new();
            let mut places = Vec::new();
            let task =
                |(n, (server, offset, period, budget, priority, there)): (usize, (u16, u64, u64, u64, u32, bool))| {
                    let server = server % tree.len() as u16;
                    places.push(TaskPlacement { server, priority, overrun: Overrun::Continue });
                    if !there {
                        absent.push(Part::Task(TaskId(n as u16)));
                    }
                    let (period, core) = (ns(period), Some(CoreId(0)));
                    Task { level: Level::A, core, offset: ns(offset), period, deadline: period, budget: ns(budget) }
                };
            let tasks: Vec<Task> = tasks.into_iter().enumerate().map(task).collect();
            changes.sort_by_key(|change| change.0);
            let change = |(at, part, action, (time, period, priority, which), admitted, drains): _| {
                let part = usize::from(part) % (tasks.len() + tree.len() - 1);
                let part = match part.checked_sub(tasks.len()) {
                    None => Part::Task(TaskId(part as u16)),
                    Some(server) => Part::Server(server as u16 + 1),
                };
                let (time, period) = (ns(time), ns(period));
                let action = match action {
                    0 => Action::Add,
                    1 => Action::Remove,
                    _ => Action::Alter(some_of(which, Values { time, period, deadline: period, priority })),
                };
                Change { at: ns(at), part, action, admitted: admitted > 0, drains, depends: false }
            };
            let changes = changes.into_iter().map(change).collect();
            let changing = ReconfigurableTree {
                tree: Tree {
                    servers: tree,
                    places,
                    releases: Vec::new(),
                    waits: Vec::new(),
                    line: Duration::ZERO,
                    seed: 0,
                },
                absent,
                changes,
                slots: Vec::new(),
                protocol: Protocol::IdleInstant,
            };
            PolicyConfig { cores: 1, kind: PolicySpec::ReconfigurableTree(changing), tasks }
        })
}

/// A deferrable server: its parent, budget and period; on one core, by deadlines inside.
pub fn server(parent: u16, budget: u64, period: u64) -> Server {
    let supply =
        Some(Supply { kind: ServerKind::Deferrable, budget: ns(budget), period: ns(period), write_backs: None });
    Server { parent, supply, ..root(TaskOrder::EarliestDeadline) }
}

/// A task of a core: offset, period and budget.
pub fn task_of(core: u8, offset: u64, period: u64, budget: u64) -> Task {
    let (core, period) = (Some(CoreId(core)), ns(period));
    Task { level: Level::A, core, offset: ns(offset), period, deadline: period, budget: ns(budget) }
}

/// When records of this kind came, with their numbers and `arg`.
pub fn told(entries: &[Entry], kind: tactus_record::EventKind) -> Vec<(u64, u32, u64)> {
    let records = entries.iter().flat_map(|entry| &entry.records).filter(|r| r.kind == kind);
    records.map(|r| (r.time.as_nanos(), r.job, r.arg)).collect()
}

/// Up to four servers, in each other or in the root, tasks everywhere, and changes of all of them.
pub fn changing_trees(end: u64) -> impl Strategy<Value = PolicyConfig> {
    let server = (any::<u16>(), 0usize..4, 1u64..8, 6u64..30, 0u32..5, any::<bool>());
    let one = (any::<u16>(), 0u64..10, 10u64..60, 1u64..5, 0u32..5, any::<bool>());
    let change = (0..end, any::<u16>(), 0u8..3, (1u64..6, 6u64..40, 0u32..5, any::<u8>()), 0u8..10, 0u8..4);
    (
        0usize..4,
        prop::collection::vec(server, 1..5),
        prop::collection::vec(one, 1..6),
        prop::collection::vec(change, 0..9),
    )
        .prop_map(|(order, servers, tasks, mut changes)| {
            let mut tree = vec![root(ORDERS[order])];
            let mut absent = Vec::new();
            for (parent, order, budget, period, priority, there) in servers {
                let n = tree.len() as u16;
                absent.extend((!there).then_some(Part::Server(n)));
                let it = self::server(parent % n, budget.min(period), period);
                tree.push(Server { order: ORDERS[order], priority, ..it });
            }
            let (mut places, mut all) = (Vec::new(), Vec::new());
            for (n, (server, offset, period, budget, priority, there)) in tasks.into_iter().enumerate() {
                places.push(TaskPlacement { server: server % tree.len() as u16, priority, overrun: Overrun::Continue });
                absent.extend((!there).then_some(Part::Task(TaskId(n as u16))));
                all.push(task_of(0, offset, period, budget));
            }
            changes.sort_by_key(|change| change.0);
            let change = |(at, part, action, values, admitted, drains): (u64, u16, u8, (u64, u64, u32, u8), u8, u8)| {
                let (time, period, priority, which) = values;
                let part = usize::from(part) % (all.len() + tree.len() - 1);
                let part = match part.checked_sub(all.len()) {
                    None => Part::Task(TaskId(part as u16)),
                    Some(server) => Part::Server(server as u16 + 1),
                };
                let (time, period): (Duration, Duration) = (ns(time), ns(period));
                let action = match action {
                    0 => Action::Add,
                    1 => Action::Remove,
                    _ => Action::Alter(some_of(which, Values { time, period, deadline: period, priority })),
                };
                Change { at: ns(at), part, action, admitted: admitted > 0, drains: drains > 0, depends: false }
            };
            let changes = changes.into_iter().map(change).collect();
            let tree =
                Tree { servers: tree, places, releases: Vec::new(), waits: Vec::new(), line: Duration::ZERO, seed: 0 };
            let kind = PolicySpec::ReconfigurableTree(ReconfigurableTree {
                tree,
                absent,
                changes,
                slots: Vec::new(),
                protocol: Protocol::IdleInstant,
            });
            PolicyConfig { cores: 1, kind, tasks: all }
        })
}
