//! Systems whose servers have schedulers of their own: what each is made from, and their traces made one.

use crate::failure::Failure;
use tactus_image::Tier;
use tactus_model::{Schedulers, System};
use tactus_policy::{Setup, TierPlan};
use tactus_trace::{merge, Trace};

/// The program that every one of them runs, the root's among them.
pub const PROGRAM: &str = "tactus-tier";

/// The plan of each scheduler, the root's first; nothing if one schedules all. `setup`: the system's.
pub fn of(system: &System, setup: &Setup) -> Result<Option<Vec<TierPlan>>, Failure> {
    if system.scheduling.schedulers == Schedulers::Single {
        return Ok(None);
    }
    let tiers = tactus_policy::cut(setup).map_err(|error| {
        let (file, why) = (system.source.display(), format!("schedulers cannot be apart: {error}"));
        Failure::Input(format!("{file}: {why}"))
    })?;
    Ok(Some(tiers))
}

/// Those below the root's, for the image.
pub fn parts(system: &System, tiers: &[TierPlan]) -> Vec<Tier> {
    let below = |place: usize| move |tier: &TierPlan| tier.below.iter().any(|it| usize::from(it.place) == place);
    let made = tiers.iter().enumerate().skip(1).map(|(place, tier)| Tier {
        name: system.scheduling.servers[usize::from(tier.servers[0]) - 1].name.clone(),
        parent: tiers.iter().position(below(place)).and_then(|parent| parent.checked_sub(1)),
        plan: tier.encode(),
        tasks: tier.tasks.clone(),
    });
    made.collect()
}

/// The trace of the whole system. `read` gives that of one of the schedulers.
pub fn whole(
    system: &System,
    tiers: &[TierPlan],
    read: impl Fn(usize) -> Result<Trace, Failure>,
) -> Result<Trace, Failure> {
    let parts = (0..tiers.len()).map(read).collect::<Result<Vec<_>, Failure>>()?;
    Ok(merge(&parts, system.tasks.len()))
}
