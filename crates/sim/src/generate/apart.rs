//! Random systems whose servers have schedulers of their own.

use super::tree;
use crate::setup;
use tactus_model::{Policy, Schedulers, Spread, System};

/// The tree of this seed with what schedulers apart do not know how to do exchanged for what comes closest; nothing if it has
/// no servers with anything inside.
pub fn apart(seed: u64) -> Option<System> {
    let mut system = tree(seed);
    let Policy::Ordered { spread: Spread::Partitioned, .. } = system.policy else { return None };
    let scheduling = &mut system.scheduling;
    for server in &mut scheduling.servers {
        let inner = server.parent.is_some();
        if inner {
            (server.spread, server.clusters) = (Spread::Partitioned, Vec::new());
        }
    }
    for (n, (task, place)) in system.tasks.iter_mut().zip(&scheduling.places).enumerate() {
        if let (None, Some(server)) = (task.core, place.server.map(|server| &scheduling.servers[server])) {
            if server.parent.is_none() && server.spread == Spread::Global {
                continue;
            }
            let cores = server.cores;
            task.core = cores.iter().nth(n % cores.iter().count().max(1));
        }
    }
    scheduling.schedulers = Schedulers::Apart;
    let tiers = tactus_policy::cut(&setup(&system, Vec::new(), &[])).ok()?;
    (tiers.len() > 1).then_some(system)
}
