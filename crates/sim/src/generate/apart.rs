//! Random systems whose servers have schedulers of their own.

use super::tree;
use crate::setup;
use tactus_model::{Policy, Schedulers, ServerKind, Spread, System};
use tactus_policy::CutError;

/// The tree of this seed with what schedulers apart do not know how to do exchanged for what comes closest; nothing if it has
/// no servers with anything inside.
pub fn apart(seed: u64) -> Option<System> {
    let mut system = tree(seed);
    let Policy::Ordered { spread: Spread::Partitioned, .. } = system.policy else { return None };
    system.scheduling.schedulers = Schedulers::Apart;
    let tiers = loop {
        match tactus_policy::cut(&setup(&system, Vec::new(), &[])) {
            Err(CutError::Drains(server)) => {
                system.scheduling.servers[usize::from(server) - 1].kind = ServerKind::Deferrable;
            }
            tiers => break tiers.ok()?,
        }
    };
    (tiers.len() > 1).then_some(system)
}
