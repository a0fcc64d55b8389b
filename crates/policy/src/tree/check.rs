//! What makes a tree usable.

use super::build::queue_of;
use super::parameters::{Server, Supply, Tree, MAX_DEPTH};
use crate::{PolicyConfig, PolicyConfigError};
use tactus_task::{Overrun, Release, ReleaseInstants, ServerKind, TaskOrder, WaitLimit};
use tactus_time::{CoreSet, Duration, TaskId};

/// More servers than anybody needs, on all cores together, and few enough for places to be small numbers.
const MAX_SERVERS: usize = 4_096;

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, tree: &Tree) -> Result<(), PolicyConfigError> {
    if tree.servers.is_empty() || tree.servers.len() > MAX_SERVERS {
        return Err(PolicyConfigError::ServerCount(tree.servers.len()));
    }
    if tree.places.len() != setup.tasks.len() {
        return Err(PolicyConfigError::PlaceCount(tree.places.len()));
    }
    for (n, server) in tree.servers.iter().enumerate() {
        check_server(setup, tree, n, server)?;
    }
    for (n, (task, place)) in setup.tasks.iter().zip(&tree.places).enumerate() {
        let id = TaskId(n as u16);
        let server = tree.servers.get(usize::from(place.server)).ok_or(PolicyConfigError::TaskServer(id))?;
        if let Some(core) = task.core.filter(|core| core.index() >= setup.cores) {
            return Err(PolicyConfigError::CoreOutOfRange(id, core));
        }
        if queue_of(server, task.core).is_none() {
            return Err(PolicyConfigError::TaskQueue(id));
        }
        let needs_budget = place.overrun == Overrun::Stop || server.order.goes_by_execution();
        if needs_budget && task.budget.is_zero() {
            return Err(PolicyConfigError::ZeroBudget(id));
        }
    }
    if !tree.releases.is_empty() && tree.releases.len() != setup.tasks.len() {
        return Err(PolicyConfigError::PlaceCount(tree.releases.len()));
    }
    for (n, release) in tree.releases.iter().enumerate() {
        let id = TaskId(n as u16);
        let unforeseen = *release != Release::Periodic;
        let before = release.predecessor().map_or(0, TaskId::index);
        let itself = release.predecessor() == Some(id) && !has_events(setup);
        if before >= setup.tasks.len() || itself {
            return Err(PolicyConfigError::Predecessor(id));
        }
        if unforeseen && tree.places[n].overrun == Overrun::Stop {
            return Err(PolicyConfigError::StopWithoutPeriods(id));
        }
        if release.jitter().is_some_and(|jitter| {
            jitter / setup.tasks[n].period.max(Duration::from_nanos(1)) > ReleaseInstants::MOST_PERIODS
        }) {
            return Err(PolicyConfigError::Jitter(id));
        }
        let told = matches!(
            setup.kind,
            crate::PolicySpec::Servers(_) | crate::PolicySpec::Resources(_) | crate::PolicySpec::Partitions(_)
        );
        if unforeseen && !told {
            return Err(PolicyConfigError::ArrivalsWithoutTree(id));
        }
    }
    check_waits(setup, tree)?;
    super::misses::check(setup, tree)?;
    super::yielding::check(setup, tree)?;
    // What is active on a core must change at that core's own decisions.
    let reclaims = |server: &Server| server.supply.is_some_and(|supply| supply.kind == ServerKind::Reclaiming);
    for (n, server) in tree.servers.iter().enumerate().filter(|(_, server)| reclaims(server)) {
        let meets = |set: &CoreSet| set.bits() & server.cores.bits() != 0;
        if super::build::domains(setup, tree).iter().filter(|set| meets(set)).any(|set| set.iter().nth(1).is_some()) {
            return Err(PolicyConfigError::SharedReclaiming(n as u16));
        }
    }
    Ok(())
}

/// Whether jobs signal and await events.
pub(super) fn has_events(setup: &PolicyConfig) -> bool {
    matches!(&setup.kind, crate::PolicySpec::Resources(all) if !all.events.is_empty())
}

/// Only where nothing is lost while a job waits, and where its deadline, not its laxity, orders it.
fn check_waits(setup: &PolicyConfig, tree: &Tree) -> Result<(), PolicyConfigError> {
    if !tree.waits.is_empty() && tree.waits.len() != setup.tasks.len() {
        return Err(PolicyConfigError::PlaceCount(tree.waits.len()));
    }
    let threshold = |n: usize| match &setup.kind {
        crate::PolicySpec::Resources(all) => all.thresholds.get(n).is_some_and(Option::is_some),
        _ => false,
    };
    let known = matches!(
        setup.kind,
        crate::PolicySpec::Servers(_) | crate::PolicySpec::Resources(_) | crate::PolicySpec::Partitions(_)
    );
    let wrong = |(n, limit): (usize, &WaitLimit)| {
        let place = tree.places[n];
        let order = tree.servers[usize::from(place.server)].order;
        let refused = !known || place.overrun == Overrun::Stop || order == TaskOrder::LeastLaxity || threshold(n);
        limit.most > 0 && (refused || limit.longest.is_zero() || usize::from(limit.most) > WaitLimit::MOST)
    };
    let found = tree.waits.iter().enumerate().find(|it| wrong(*it));
    found.map_or(Ok(()), |(n, _)| Err(PolicyConfigError::Waits(TaskId(n as u16))))
}

/// Whether it is a budget that a server with this supply can have.
fn fits(budget: Duration, supply: &Supply) -> bool {
    !budget.is_zero() && budget <= supply.period
}

/// Whether nothing but a budget of misses has one of lines written back.
fn writes_fit(supply: &Supply) -> bool {
    supply.write_backs.is_none_or(|written| supply.kind == ServerKind::Misses && fits(written, supply))
}

fn check_server(setup: &PolicyConfig, tree: &Tree, n: usize, server: &Server) -> Result<(), PolicyConfigError> {
    let place = n as u16;
    let all = CoreSet::first(setup.cores).bits();
    let parent = usize::from(server.parent);
    let allowed = match n {
        0 if server.parent == 0 && server.cores.bits() == all => all,
        0 => return Err(PolicyConfigError::ServerCores(place)),
        _ if parent < n => tree.servers[parent].cores.bits(),
        _ => return Err(PolicyConfigError::ServerParent(place)),
    };
    if server.cores.is_empty() || server.cores.bits() & !allowed != 0 {
        return Err(PolicyConfigError::ServerCores(place));
    }
    // Queues part the cores; those of servers with servers inside are of one core each.
    let mut covered = 0;
    let inner = tree.servers.iter().skip(1).any(|child| usize::from(child.parent) == n);
    for queue in &server.queues {
        let apart = queue.bits() & covered == 0 && !queue.is_empty();
        if !apart || (inner && queue.bits().count_ones() > 1) {
            return Err(PolicyConfigError::ServerQueues(place));
        }
        covered |= queue.bits();
    }
    if covered != server.cores.bits() {
        return Err(PolicyConfigError::ServerQueues(place));
    }
    if server.order.has_quantum() && server.quantum.is_zero() {
        return Err(PolicyConfigError::ServerQuantum(place));
    }
    if inner && !server.order.orders_servers() {
        return Err(PolicyConfigError::ServerOrder(place));
    }
    match server.supply {
        None if n == 0 => {}
        Some(supply) if n > 0 && fits(supply.budget, &supply) && writes_fit(&supply) => {}
        _ => return Err(PolicyConfigError::ServerSupply(place)),
    }
    let (mut at, mut depth) = (n, 1);
    while at != 0 {
        at = usize::from(tree.servers[at].parent);
        depth += 1;
    }
    if depth > MAX_DEPTH {
        return Err(PolicyConfigError::ServerDepth(place));
    }
    Ok(())
}
