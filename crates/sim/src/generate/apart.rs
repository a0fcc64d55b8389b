//! Random systems whose servers have schedulers of their own.

use super::changing::core_by_core;
use super::{tree, with_changes};
use crate::setup;
use tactus_model::{Policy, Schedulers, ServerKind, Spread, System, MAX_SERVERS};
use tactus_policy::CutError;

/// The most threads of an image.
const MOST_THREADS: usize = 264;

/// The tree of this seed with what schedulers apart do not know how to do exchanged for what comes closest; nothing if it has
/// no servers with anything inside.
pub fn apart(seed: u64) -> Option<System> {
    divided(tree(seed))
}

/// The same with a server for each core where one had several, and with changes while it runs.
pub fn apart_changing(seed: u64) -> Option<System> {
    divided(with_changes(&core_by_core(tree(seed)))?)
}

fn divided(mut system: System) -> Option<System> {
    let Policy::Ordered { spread: Spread::Partitioned, .. } = system.policy else { return None };
    if system.scheduling.servers.len() > MAX_SERVERS {
        return None;
    }
    system.scheduling.schedulers = Schedulers::Apart;
    let tiers = loop {
        match tactus_policy::cut(&setup(&system, Vec::new(), &[])) {
            Err(CutError::Drains(server)) => {
                system.scheduling.servers[usize::from(server) - 1].kind = ServerKind::Deferrable;
            }
            tiers => break tiers.ok()?,
        }
    };
    // More threads than an image holds, an upcall of each scheduler on each core among them.
    let threads = tiers.len() * system.cores + system.tasks.len();
    (tiers.len() > 1 && threads <= MOST_THREADS).then_some(system)
}
