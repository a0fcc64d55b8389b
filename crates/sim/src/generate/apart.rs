//! Random systems whose servers have schedulers of their own.

use super::changing::core_by_core;
use super::{tree, with_changes};
use crate::setup;
use tactus_model::{Policy, Schedulers, Spread, System, MAX_SERVERS};

/// The most threads of an image.
const MOST_THREADS: usize = 264;

/// The tree of this seed with a scheduler for each server that has something inside; nothing if none has, or if it cannot be cut.
pub fn apart(seed: u64) -> Option<System> {
    divided(tree(seed))
}

/// The same with changes while it runs: with a server for each core where one had several; or, for every fourth seed, as it is.
pub fn apart_changing(seed: u64) -> Option<System> {
    if seed % 4 != 3 {
        return divided(with_changes(&core_by_core(tree(seed)))?);
    }
    let system = with_changes(&tree(seed))?;
    let tied = system.scheduling.sharing(system.cores).iter().any(|set| set.iter().count() > 1);
    tied.then(|| divided(system)).flatten()
}

fn divided(mut system: System) -> Option<System> {
    let Policy::Ordered { spread: Spread::Partitioned, .. } = system.policy else { return None };
    if system.scheduling.servers.len() > MAX_SERVERS {
        return None;
    }
    system.scheduling.schedulers = Schedulers::PerServer;
    let tiers = tactus_policy::cut(&setup(&system, Vec::new(), &[])).ok()?;
    // More threads than an image holds, an upcall of each scheduler on each core among them.
    let threads = tiers.len() * system.cores + system.tasks.len();
    (tiers.len() > 1 && threads <= MOST_THREADS).then_some(system)
}
