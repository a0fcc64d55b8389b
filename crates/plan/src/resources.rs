//! What jobs keep from others, and await: from a system file to the policy's thresholds and resources.

use tactus_model::System;
use tactus_policy::{PolicyConfig, PolicySpec, Resource, ResourceUser};
use tactus_time::{Duration, TaskId};

/// The thresholds of all tasks, and the resources; nothing if no job keeps anything from another, or awaits an event.
pub(crate) fn of(system: &System) -> Option<(Vec<Option<u32>>, Vec<Resource>)> {
    let scheduling = &system.scheduling;
    let threshold = |n: usize| scheduling.places.get(n).and_then(|place| place.threshold);
    let thresholds: Vec<Option<u32>> = (0..system.tasks.len()).map(threshold).collect();
    let quiet = scheduling.sections.is_empty() && scheduling.events.is_empty();
    if quiet && thresholds.iter().all(Option::is_none) {
        return None;
    }
    let user = |r: usize, n: usize| {
        let own = scheduling.sections_of(n).iter().filter(|section| section.resource == r);
        own.map(|section| section.length).max().map(|longest| ResourceUser { task: TaskId(n as u16), longest })
    };
    let order = scheduling.resource_order();
    let resource = |(r, resource): (usize, &tactus_model::Resource)| Resource {
        protocol: resource.protocol,
        order: order[r],
        withdrawn: resource.withdrawn,
        users: (0..system.tasks.len()).filter_map(|n| user(r, n)).collect(),
    };
    Some((thresholds, scheduling.resources.iter().enumerate().map(resource).collect()))
}

/// A section may be found longer than it declares by what its end takes to be noticed.
pub(crate) fn allow(setup: &mut PolicyConfig, slack: Duration) {
    let PolicySpec::Resources(all) = &mut setup.kind else { return };
    for user in all.resources.iter_mut().flat_map(|resource| &mut resource.users) {
        user.longest = user.longest.checked_add(slack).unwrap_or(Duration::MAX);
    }
}
