//! What the tests of servers cover. How each of them finds its bounds: [`judge`](super::judge).

use super::super::covers::{one, FIXED, SPORADIC};
use super::super::declared::Declared;
use super::super::orders;
use super::forest::is_in_tree;
use tactus_model::{Migration, OrderBasis, System, TaskOrder};
use tactus_task::{Feature, Features};

/// Which kind has a bound beneath which order is what the trees of [`crate::reservation::tree`] need of it.
const KINDS: Features = Features::of(&[
    Feature::ServerPeriodic,
    Feature::ServerPolling,
    Feature::ServerSporadicPolling,
    Feature::ServerDeferrable,
    Feature::ServerSporadic,
    Feature::ServerSoftBandwidth,
    Feature::ServerHardBandwidth,
    Feature::ServerPriorityInheriting,
    Feature::ServerReclaiming,
    Feature::ServerMisses,
    Feature::ServerYieldingToChanged,
    Feature::ServerYieldingToMisses,
    Feature::NestedServer,
    Feature::Background,
    Feature::SchedulerPerServer,
    Feature::Reconfiguration,
]);
const IN_TREES: Features = SPORADIC.and(FIXED).and(one(Feature::EarliestDeadline)).and(KINDS);

const fn test(name: &'static str, source: &'static str, covers: Features) -> Declared {
    Declared { name, source, place: "servers", covers, exact: false }
}

/// Tasks beside servers, and in those with one queue for each core by numbers or deadlines.
pub(super) const TREE: Declared = test(
    "response in its tree of servers",
    "Shin and Lee 2003; Davis and Burns 2005; Ghazalie and Baker 1995; Abeni and Buttazzo 1998",
    IN_TREES,
);

/// Tasks in a soft server, in any order.
pub(super) const SOFT: Declared = test(
    "inside a soft server (Abeni and Buttazzo)",
    "Abeni and Buttazzo 1998; Lipari and Baruah 2000",
    IN_TREES.and(Features::of(&[
        Feature::FirstComeFirstServed,
        Feature::RoundRobin,
        Feature::FixedPriorityRoundRobin,
        Feature::LaxityAtRelease,
        Feature::LeastLaxity,
    ])),
);

/// A task by itself in a server whose budget is there again one period after its first use; no order matters there.
pub(super) const ALONE: Declared = test(
    "alone in its server",
    "Abeni and Buttazzo 1998; Sprunt, Sha and Lehoczky 1989",
    SOFT.covers.without(one(Feature::Reconfiguration)),
);

/// Tasks in a server whose queue several cores share.
pub(super) const PLATFORM: Declared = test(
    "virtual platform (Lipari and Bini)",
    "Bini et al. 2009; Lipari and Bini 2010",
    SOFT.covers.and(one(Feature::SharedQueue)),
);
pub(super) const RESOURCE: Declared = test(
    "multiprocessor periodic resource (Easwaran, Shin and Lee)",
    "Shin, Easwaran and Lee 2008; Easwaran, Shin and Lee 2009",
    IN_TREES.and(one(Feature::SharedQueue)),
);

/// Tasks in a server, in an order in which urgencies change.
const fn in_supply(order: TaskOrder, feature: Feature) -> Declared {
    test(
        orders::explanation(order),
        "the test of one core within the server's supply: Shin and Lee 2003",
        IN_TREES.and(one(feature)),
    )
}
const FIRST_COME: Declared = in_supply(TaskOrder::FirstComeFirstServed, Feature::FirstComeFirstServed);
const TURNS: Declared = in_supply(TaskOrder::RoundRobin, Feature::RoundRobin);
const TURNS_AMONG_EQUALS: Declared = in_supply(TaskOrder::FixedPriorityRoundRobin, Feature::FixedPriorityRoundRobin);
const LAXITY_AT_RELEASE: Declared = in_supply(TaskOrder::LaxityAtRelease, Feature::LaxityAtRelease);
const LEAST_LAXITY: Declared = in_supply(TaskOrder::LeastLaxity, Feature::LeastLaxity);

/// All of them.
pub(crate) const ALL: &[Declared] =
    &[TREE, SOFT, ALONE, FIRST_COME, TURNS, TURNS_AMONG_EQUALS, LAXITY_AT_RELEASE, LEAST_LAXITY, PLATFORM, RESOURCE];

/// The tests for a task, by where it is.
pub(super) fn of(system: &System, root: Migration, n: usize) -> &'static [Declared] {
    let Some(server) = system.home(n) else { return &[TREE] };
    let it = &system.scheduling.servers[server];
    let queue = system.queue_of(n);
    if it.kind.is_soft() {
        return &[SOFT];
    }
    if queue.iter().nth(1).is_some() {
        return &[PLATFORM, RESOURCE];
    }
    if queue.iter().next().is_some_and(|core| is_in_tree(system, root, server, core)) {
        return &[TREE];
    }
    match it.order.basis() {
        OrderBasis::Release => &[FIRST_COME],
        OrderBasis::Turns => &[TURNS],
        OrderBasis::PrioritiesWithTurns => &[TURNS_AMONG_EQUALS],
        OrderBasis::LaxityAtRelease => &[LAXITY_AT_RELEASE],
        OrderBasis::Laxity => &[LEAST_LAXITY],
        OrderBasis::Kept(_) | OrderBasis::Deadline => &[TREE],
    }
}
