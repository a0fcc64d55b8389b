//! From a set-up to what the rules of servers are judged against.

use tactus_policy::{Kind, Setup, Supplier, TaskOrder};
use tactus_trace::check::{Bound, InTree, Rank, ServerView, TreeView};

/// What [`tactus_trace::check::servers`] needs to know of a tree; nothing under other policies.
pub fn tree_view(setup: &Setup) -> Option<TreeView> {
    let Kind::Servers(tree) = &setup.kind else { return None };
    let servers = tree.servers.iter().map(|server| ServerView {
        parent: usize::from(server.parent),
        cores: server.cores,
        queues: server.queues.clone(),
        supply: server.supply.map(|supply| {
            let bound = match supply.kind {
                Supplier::Periodic | Supplier::Polling | Supplier::Deferrable => Bound::Boundaries,
                Supplier::Sporadic | Supplier::PriorityInheriting => Bound::Begun,
                Supplier::ConstantBandwidth { hard: true } => Bound::Begun,
                Supplier::ConstantBandwidth { hard: false } | Supplier::PosixSporadic => Bound::None,
            };
            (supply.budget, supply.period, bound)
        }),
        background: server.background,
        tells: server.supply.is_none_or(|supply| {
            matches!(supply.kind, Supplier::ConstantBandwidth { hard: true } | Supplier::Deferrable)
        }),
    });
    let tasks = setup.tasks.iter().zip(&tree.places).map(|(task, place)| InTree {
        server: usize::from(place.server),
        core: task.core,
        rank: match tree.servers[usize::from(place.server)].order {
            TaskOrder::FixedPriority => Rank::Fixed(u64::from(u32::MAX - place.priority)),
            TaskOrder::RateMonotonic => Rank::Fixed(task.period.as_nanos()),
            TaskOrder::DeadlineMonotonic => Rank::Fixed(task.deadline.as_nanos()),
            TaskOrder::ShortestJob => Rank::Fixed(task.budget.as_nanos()),
            TaskOrder::EarliestDeadline => Rank::Deadline,
            TaskOrder::FirstComeFirstServed => Rank::Release,
            TaskOrder::LeastLaxity | TaskOrder::LaxityAtRelease | TaskOrder::RoundRobin => Rank::Changing,
        },
        times: (task.offset, task.period, task.deadline),
    });
    Some(TreeView { servers: servers.collect(), tasks: tasks.collect() })
}
