//! Random systems of one core that change while they run.

use proptest::prelude::*;
use tactus_policy::{
    Action, Change, Changing, Kind, Overrun, Part, Place, Protocol, Server, Setup, Supplier, Supply, Task, TaskOrder,
    Tree, Values,
};
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

const ORDERS: [TaskOrder; 4] =
    [TaskOrder::FixedPriority, TaskOrder::RateMonotonic, TaskOrder::DeadlineMonotonic, TaskOrder::EarliestDeadline];
const SUPPLIERS: [Supplier; 7] = [
    Supplier::Periodic,
    Supplier::Polling,
    Supplier::Deferrable,
    Supplier::Sporadic,
    Supplier::ConstantBandwidth { hard: true },
    Supplier::ConstantBandwidth { hard: false },
    Supplier::PriorityInheriting,
];

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

fn ns(n: u64) -> Duration {
    Duration::from_nanos(n)
}

/// Tasks and up to `servers` servers, with periods from `shortest` to four times that, and changes up to `end`.
pub fn changing(shortest: u64, servers: usize, end: u64) -> impl Strategy<Value = Setup> {
    let server = (0usize..7, 1u64..6, shortest..shortest * 4, 0u32..5);
    let task = (any::<u16>(), 0u64..10, shortest..shortest * 4, 1u64..4, 0u32..5, any::<bool>());
    let change = (0..end, any::<u16>(), 0u8..3, (1u64..4, shortest..shortest * 4, 0u32..5), 0u8..10, any::<bool>());
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
                supply: Some(Supply { kind: SUPPLIERS[*kind], budget: ns(*budget.min(period)), period: ns(*period) }),
                priority: *priority,
                order: TaskOrder::EarliestDeadline,
                ..root.clone()
            }));
            let mut absent = Vec::new();
            let mut places = Vec::new();
            let task =
                |(n, (server, offset, period, budget, priority, there)): (usize, (u16, u64, u64, u64, u32, bool))| {
                    let server = server % tree.len() as u16;
                    places.push(Place { server, priority, overrun: Overrun::Continue });
                    if !there {
                        absent.push(Part::Task(TaskId(n as u16)));
                    }
                    let (period, core) = (ns(period), Some(CoreId(0)));
                    Task { level: Level::A, core, offset: ns(offset), period, deadline: period, budget: ns(budget) }
                };
            let tasks: Vec<Task> = tasks.into_iter().enumerate().map(task).collect();
            changes.sort_by_key(|change| change.0);
            let change = |(at, part, action, (time, period, priority), admitted, drains): _| {
                let part = usize::from(part) % (tasks.len() + tree.len() - 1);
                let part = match part.checked_sub(tasks.len()) {
                    None => Part::Task(TaskId(part as u16)),
                    Some(server) => Part::Server(server as u16 + 1),
                };
                let (time, period) = (ns(time), ns(period));
                let action = match action {
                    0 => Action::Add,
                    1 => Action::Remove,
                    _ => Action::Alter(Values { time, period, deadline: period, priority }),
                };
                Change { at: ns(at), part, action, admitted: admitted > 0, drains }
            };
            let changes = changes.into_iter().map(change).collect();
            let changing =
                Changing { tree: Tree { servers: tree, places }, absent, changes, protocol: Protocol::Quiet };
            Setup { cores: 1, kind: Kind::Changing(changing), tasks }
        })
}
