//! What the slots of a network's nodes make of the packages that come to them, by the code that their loaders have.

use crate::{slot_fits, SlotFit};
use tactus_model::network::Network;
use tactus_model::{Costs, System};
use tactus_network::frame::{Name, Version};
use tactus_network::host::{Admission, Slots};
use tactus_network::refusals::Refusal;
use tactus_record::SlotRefusal;
use tactus_time::Duration;

/// A package in the slots of one system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemFit {
    /// The application,
    pub app: Name,
    /// and its version.
    pub version: Version,
    /// The system, by its place in [`Network::systems`].
    pub system: usize,
    /// What becomes of it in each slot.
    pub fits: Vec<SlotFit>,
}

/// Tells every node with a system what its slots make of each version. `costs` are those of each system.
pub fn admit(network: &mut Network, costs: &[Costs]) -> Vec<SystemFit> {
    let mut all = Vec::new();
    let mut versions: Vec<_> = network.field.deliveries.iter().filter(|it| !it.package.removed).collect();
    versions.sort_by_key(|it| (it.package.app, it.package.version));
    versions.dedup_by_key(|it| (it.package.app, it.package.version));
    for it in versions {
        for (n, (system, costs)) in network.systems.iter().zip(costs).enumerate() {
            let fits = slot_fits(system, costs, &it.bytes);
            all.push(SystemFit { app: it.package.app, version: it.package.version, system: n, fits });
        }
    }
    let of = |(n, system): (usize, &System)| {
        let step = system.loader().map_or(Duration::ZERO, |(_, task)| system.tasks[task].period);
        let admissions = all.iter().filter(|it| it.system == n);
        Slots {
            admissions: admissions
                .map(|it| ((it.app, it.version), it.fits.iter().map(|fit| admission(fit, step)).collect()))
                .collect(),
            names: system.slots.iter().filter_map(|slot| Name::new(&slot.name)).collect(),
            full: SlotRefusal::Full as u8,
            class: SlotRefusal::Kind as u8,
        }
    };
    let slots: Vec<Slots> = network.systems.iter().enumerate().map(of).collect();
    for (member, system) in network.field.members.iter_mut().zip(&network.system_of) {
        member.slots = system.map(|system| slots[system].clone());
    }
    all
}

/// One slot's admission, whose loader takes a step in each of its periods.
fn admission(fit: &SlotFit, step: Duration) -> Admission {
    match &fit.result {
        Ok(fitting) => Admission::Fits(step.checked_mul(fitting.jobs).unwrap_or(Duration::MAX)),
        Err(unfit) => Admission::Refused(Refusal {
            reason: unfit.reason as u8,
            task: unfit.task.and_then(|task| u8::try_from(task).ok()),
        }),
    }
}
