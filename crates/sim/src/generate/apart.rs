//! Random systems whose servers have schedulers of their own.

use super::changing::core_by_core;
use super::{tree, with_changes};
use crate::setup;
use tactus_model::{Policy, Schedulers, Server, Spread, System, MAX_SERVERS};
use tactus_time::CoreSet;

/// The most threads of an image.
const MOST_THREADS: usize = 264;

/// The tree of this seed with a scheduler for each server that has something inside; nothing if none has, or if it cannot be cut.
pub fn apart(seed: u64) -> Option<System> {
    divided(tree(seed))
}

/// The same with changes while it runs: with a server for each core where one had several; or, for every fourth seed, as it is,
/// with changes of cores that share no queue inside another server.
pub fn apart_changing(seed: u64) -> Option<System> {
    if seed % 4 != 3 {
        return divided(with_changes(&core_by_core(tree(seed)))?);
    }
    let mut system = with_changes(&tree(seed))?;
    let shares = |it: &Server, most: CoreSet| {
        let queues = system.scheduling.queues(Some(it), it.spread, it.cores);
        queues.iter().any(|queue| queue.iter().count() > 1 && queue.bits() & most.bits() != 0)
    };
    let sets = system.scheduling.sharing(system.cores);
    let deep = |set: &&CoreSet| system.scheduling.servers.iter().any(|it| it.parent.is_some() && shares(it, **set));
    let tied = sets.iter().filter(deep).fold(0, |all, set| all | set.bits());
    if !sets.iter().any(|set| set.iter().count() > 1) {
        return None;
    }
    let mut changes = std::mem::take(&mut system.scheduling.changes);
    changes.retain(|change| system.cores_of(change.part).bits() & tied == 0);
    system.scheduling.changes = changes;
    (!system.scheduling.changes.is_empty()).then(|| divided(system)).flatten()
}

fn divided(mut system: System) -> Option<System> {
    let Policy::Ordered { spread: Spread::Partitioned, .. } = system.policy else { return None };
    if system.scheduling.servers.len() > MAX_SERVERS {
        return None;
    }
    system.scheduling.schedulers = Schedulers::Apart;
    let tiers = tactus_policy::cut(&setup(&system, Vec::new(), &[])).ok()?;
    // More threads than an image holds, an upcall of each scheduler on each core among them.
    let threads = tiers.len() * system.cores + system.tasks.len();
    (tiers.len() > 1 && threads <= MOST_THREADS).then_some(system)
}
