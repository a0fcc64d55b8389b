//! Events between cores: only cores that have something in common send any.

use super::{Rule, TreeView, Violation};
use crate::{Trace, View};
use tactus_record::{EventKind, InputKind, Record, RequestEvent};
use tactus_time::{CoreId, CoreSet, TaskId, MAX_CORES};

/// Holds the events of a run against the view's queues, its resources and what releases its jobs.
pub(super) fn of_view(view: &View, trace: &Trace) -> Vec<Violation> {
    let Some(tree) = &view.tree else { return Vec::new() };
    let releases = view.tasks.iter().enumerate().filter_map(|(n, task)| {
        let before = task.releases.predecessor()?;
        Some(CoreSet::from_bits(queue_of(tree, TaskId(n as u16)) | queue_of(tree, before)))
    });
    no_events(tree, releases.collect(), trace)
}

/// Cores that share no queue, directly or by others, send each other no events. Nor do they where no completion on the one releases a
/// job on the other, no resource is used on both, and no job signals to others. `linked`: the cores of each two tasks of which one
/// releases the other.
pub fn no_events(tree: &TreeView, mut linked: Vec<CoreSet>, trace: &Trace) -> Vec<Violation> {
    // Jobs that signal events wake those of any other core.
    let signals = |r: &Record| {
        let signals = [InputKind::Signal as u8, InputKind::Await as u8].contains(&r.level);
        r.kind == EventKind::Input && signals && RequestEvent::of(r).is_none()
    };
    if trace.cores.iter().flatten().any(signals) {
        return Vec::new();
    }
    let resources = tree.ceilings.iter().flat_map(|it| &it.resources);
    let users =
        resources.map(|it| CoreSet::from_bits(it.users.iter().fold(0, |all, user| all | queue_of(tree, *user))));
    linked.extend(users);
    let mut found = Vec::new();
    for (core, records) in trace.cores.iter().enumerate().take(MAX_CORES) {
        let core = CoreId(core as u8);
        let near = tree.joined(CoreSet::from_bits(1 << core.0), &linked);
        let strange = |r: &&Record| near.iter().all(|other| other == core || u64::from(other.0) != r.arg);
        found.extend(records.iter().filter(|r| r.kind == EventKind::Notify).filter(strange).map(|r| Violation {
            rule: Rule::NoEvents,
            time: r.time,
            core,
            task: None,
            job: None,
            text: format!("an event for core {}, with which no queue is shared", r.arg),
        }));
    }
    found
}

/// The cores of the task's queue, as bits.
fn queue_of(tree: &TreeView, task: TaskId) -> u8 {
    if task.index() < tree.tasks.len() {
        tree.queue(task).bits()
    } else {
        0
    }
}
