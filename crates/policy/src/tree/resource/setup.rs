//! From parameters to the resources of a core.

use super::{Access, ResourceState, Resources, TaskResources};
use crate::tree::domain::Domain;
use crate::tree::events::Events;
use crate::tree::parameters::{Resource, ResourceTree, ResourceUser};
use crate::{PolicyConfig, PolicyConfigError, ResourceSet};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_task::{Overrun, ResourceProtocol, Sections, TaskOrder};
use tactus_time::{CoreId, Duration, TaskId};

/// Finds the first thing that is wrong with it.
pub(crate) fn check(setup: &PolicyConfig, all: &ResourceTree) -> Result<(), PolicyConfigError> {
    let shared = all.tree.servers.iter().flat_map(|server| &server.queues).any(|queue| queue.iter().nth(1).is_some());
    let ordered = all.tree.servers.iter().all(|server| server.order.orders_servers());
    let nothing = all.resources.is_empty() && all.thresholds.iter().all(Option::is_none);
    if (shared || !ordered) && !nothing || all.tree.servers.len() > 1 {
        return Err(PolicyConfigError::CeilingTree);
    }
    if all.thresholds.len() != setup.tasks.len() {
        return Err(PolicyConfigError::PlaceCount(all.thresholds.len()));
    }
    if all.resources.len() > Sections::MAX_RESOURCES {
        return Err(PolicyConfigError::ResourceCount(all.resources.len()));
    }
    for (n, resource) in all.resources.iter().enumerate() {
        let stops = |user: &ResourceUser| {
            let place = all.tree.places.get(user.task.index());
            place.is_none_or(|place| matches!(place.overrun, Overrun::Stop | Overrun::Kill))
        };
        let first = resource.users.first().and_then(|user| core(setup, user));
        let wrong = |(i, user): (usize, &ResourceUser)| {
            let twice = resource.users[..i].iter().any(|other| other.task == user.task);
            let elsewhere = !resource.protocol.spans_cores() && core(setup, user) != first;
            twice || stops(user) || elsewhere
        };
        if resource.users.iter().enumerate().any(wrong) {
            return Err(PolicyConfigError::ResourceUser(n));
        }
        if resource.protocol == ResourceProtocol::Inheritance && is_beside_ceilings(setup, all, first) {
            return Err(PolicyConfigError::InheritanceBesideCeilings(n));
        }
    }
    let below = |n: &usize| all.thresholds[*n].is_some_and(|threshold| threshold < all.tree.places[*n].priority);
    let by_priority = all.tree.servers.iter().all(|server| server.order == TaskOrder::FixedPriority);
    let wrong = |n: &usize| below(n) || (all.thresholds[*n].is_some() && !by_priority);
    (0..setup.tasks.len()).find(wrong).map_or(Ok(()), |n| Err(PolicyConfigError::Threshold(TaskId(n as u16))))
}

fn core(setup: &PolicyConfig, user: &ResourceUser) -> Option<CoreId> {
    setup.tasks.get(user.task.index()).and_then(|task| task.core)
}

/// Whether jobs of the core hold ceilings too: one that has begun would then wait.
fn is_beside_ceilings(setup: &PolicyConfig, all: &ResourceTree, on: Option<CoreId>) -> bool {
    let others = all.resources.iter().filter(|it| it.protocol != ResourceProtocol::Inheritance);
    let thresholds = all.thresholds.iter().zip(&setup.tasks);
    others.flat_map(|it| &it.users).any(|user| core(setup, user) == on)
        || thresholds.into_iter().any(|(threshold, task)| threshold.is_some() && task.core == on)
}

impl Resource {
    /// Whether tasks of several cores use it.
    pub(super) fn spans(&self, setup: &PolicyConfig) -> bool {
        let mut cores = self.users.iter().map(|user| core(setup, user));
        let first = cores.next();
        cores.any(|core| Some(core) != first)
    }
}

/// Gives the domain its resources.
pub(crate) fn attach(domain: &mut Domain, setup: &PolicyConfig, all: &ResourceTree) {
    let number = |place: usize| domain.tasks[place].id.index();
    let order = all.tree.servers.first().map_or(TaskOrder::FixedPriority, |root| root.order);
    // Less is more urgent; among equals the first.
    let key = |place: usize| {
        let (n, task) = (number(place), &setup.tasks[number(place)]);
        let key = match order {
            TaskOrder::FixedPriority => u64::from(u32::MAX - all.tree.places[n].priority),
            TaskOrder::RateMonotonic => task.period.as_nanos(),
            _ => task.deadline.as_nanos(),
        };
        (key, place)
    };
    let count = domain.tasks.len();
    let longest = |place: usize, resource: &Resource| {
        resource.users.iter().find(|user| user.task.index() == number(place)).map(|user| user.longest)
    };
    let tasks = (0..count).map(|place| TaskResources {
        level: (0..count).filter(|other| key(*other) >= key(place)).count() as u32,
        threshold: all.thresholds[number(place)].map_or(0, |threshold| {
            (0..count).filter(|other| all.tree.places[number(*other)].priority <= threshold).count() as u32
        }),
        longest: all.resources.iter().map(|resource| longest(place, resource)).collect(),
        word: Sections::NONE,
        held: Sections::NONE,
        wants: None,
        barred: Sections::DEEPEST,
        refused: None,
        entered: [Duration::ZERO; Sections::DEEPEST],
        exceeded: [false; Sections::DEEPEST],
    });
    let tasks: Vec<TaskResources> = tasks.collect();
    let one = |resource: &Resource| {
        let users = (0..count).filter(|place| longest(*place, resource).is_some());
        let highest = users.map(|place| tasks[place].level).max().unwrap_or(0);
        let top = if highest == 0 { 0 } else { count as u32 };
        let spans = resource.spans(setup);
        let (ceiling, access) = match resource.protocol {
            ResourceProtocol::Ceiling => (highest, Access::Free),
            ResourceProtocol::Inheritance => (0, Access::Inherits(None)),
            ResourceProtocol::Msrp | ResourceProtocol::Fmlp if spans => (top, Access::Spans),
            ResourceProtocol::Msrp => (highest, Access::Free),
            ResourceProtocol::NonPreemptive | ResourceProtocol::Fmlp => (top, Access::Free),
        };
        ResourceState { ceiling, order: resource.order, withdrawn: resource.withdrawn, access }
    };
    let resources: Vec<ResourceState> = all.resources.iter().map(one).collect();
    let mut taken = ResourceSet::default();
    let spanning = (0..).zip(&resources).filter(|(_, it)| it.access == Access::Spans);
    spanning.for_each(|(resource, _)| taken.insert(resource));
    if !all.events.is_empty() {
        domain.events = Some(Events::new(&all.events, count));
    }
    if all.resources.is_empty() && all.thresholds.iter().all(Option::is_none) {
        return;
    }
    let (begun, returned) = (Vec::with_capacity(count), Vec::with_capacity(2 * Sections::DEEPEST + 2));
    domain.resources = Some(Box::new(Resources { tasks, begun, resources, taken, spins: None, returned }));
}
