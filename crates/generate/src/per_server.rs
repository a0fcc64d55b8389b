//! Random systems with a scheduler for each server.

use super::changing::core_by_core;
use super::tree;
use tactus_model::{Migration, Policy, Schedulers, ServerKind, System, MAX_SERVERS};

/// The most threads of an image.
const MOST_THREADS: usize = 264;

/// The tree of this seed with a scheduler for each server that has something inside; nothing if none has, or if it cannot be
/// divided. Where a server had several cores there is one for each, and inner servers that lose budget without work are deferrable.
pub fn per_server(seed: u64) -> Option<System> {
    let mut system = core_by_core(tree(seed));
    let Policy::Ordered { spread: Migration::Partitioned, .. } = system.policy else { return None };
    if system.scheduling.servers.len() > MAX_SERVERS {
        return None;
    }
    for server in system.scheduling.servers.iter_mut().filter(|server| server.parent.is_some()) {
        if server.kind.loses_unused() {
            server.kind = ServerKind::Deferrable;
        }
    }
    system.scheduling.schedulers = Schedulers::PerServer;
    // More threads than an image holds are too many, an upcall of each scheduler on each core among them.
    let schedulers = system.scheduling.scheduler_count();
    let threads = schedulers * system.cores + system.tasks.len();
    (schedulers > 1 && threads <= MOST_THREADS).then_some(system)
}
