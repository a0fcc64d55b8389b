//! What comes into a slot is reached by the services of its `uses` alone: nothing else of the file may name the slot or a task of it, since
//! nobody knows before the run what is there. So no other end is ever left behind by an unload.

use crate::draft::{Draft, DraftSlot, Given};
use crate::problem::{Collector, Location};

/// Refuses channels, chains, buffers, devices, disks, releases and restarts that name a slot or a task of one.
pub(super) fn check(draft: &Draft, out: &mut Collector) {
    for (place, subject, name) in ends(draft) {
        let Some(slot) = draft.slots.iter().find(|slot| is_inside(slot, name)) else { continue };
        let why = format!("{name:?} is what {} holds, which nobody knows before the run", slot.subject);
        let remedy = "name a part of the file, and let programs reach it by a service in the slot's uses";
        out.refuse(place, subject, why, remedy);
    }
}

/// Whether it is the slot's component, or one of its tasks.
fn is_inside(slot: &DraftSlot, name: &str) -> bool {
    let Some(own) = slot.name.get() else { return false };
    let task = |rest: &str| rest.strip_prefix('.').is_some_and(|n| n.parse::<u64>().is_ok());
    name.strip_prefix(own.value.as_str()).is_some_and(|rest| rest.is_empty() || task(rest))
}

/// Where, in what and which part of the system is named.
fn ends(draft: &Draft) -> Vec<(Location, &str, &str)> {
    let mut all = Vec::new();
    fn one<'d>(all: &mut Vec<(Location, &'d str, &'d str)>, subject: &'d str, given: &'d Given<String>) {
        all.extend(given.get().map(|at| (at.place, subject, at.value.as_str())));
    }
    for channel in &draft.channels {
        let subject = channel.subject.as_str();
        let read = channel.destinations.get().into_iter().flat_map(|at| &at.value);
        let ends = channel.source.get().into_iter().chain(read);
        all.extend(ends.map(|at| (at.place, subject, at.value.task.as_str())));
    }
    for chain in &draft.chains {
        let tasks = chain.tasks.get().into_iter().flat_map(|at| at.value.iter().map(|name| (at.place, name)));
        all.extend(tasks.map(|(place, name)| (place, chain.subject.as_str(), name.as_str())));
    }
    for buffer in &draft.platform.buffers {
        all.extend(buffer.between.iter().map(|at| (at.place, buffer.subject.as_str(), at.value.as_str())));
    }
    draft.platform.devices.iter().for_each(|it| one(&mut all, &it.subject, &it.component));
    draft.disks.iter().for_each(|it| one(&mut all, &it.subject, &it.component));
    draft.components.iter().for_each(|it| one(&mut all, &it.subject, &it.rights.restarted_by));
    for task in &draft.tasks {
        for given in [&task.placing.after, &task.placing.raised_by, &task.component] {
            one(&mut all, &task.subject, given);
        }
    }
    all
}
