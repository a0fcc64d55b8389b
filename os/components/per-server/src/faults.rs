//! Components that were stopped: a task's, whose jobs end with it, or a child scheduler's, whose tasks do. The root restarts them.

use crate::state::{CoreState, System};
use core::sync::atomic::Ordering;
use tactus_record::{fault_ticket, EventKind, FaultKind, Record, Sink};
use tactus_rt::clock;
use tactus_rt::scheduler::{OwnRegion, StoppedSet};
use tactus_rt::time::{CoreId, TaskId};
use tactus_sched::recovery::{self, Lost};
use tactus_sched::runtime::{COMPLETED, REMOVED};

/// Handles the fault of a component while this core ran a thread of this scheduler or of a descendant. What is due since.
#[cold]
pub fn handle(state: &mut CoreState, region: OwnRegion) -> u64 {
    let fault = region.fault();
    let gone = fault.kind == FaultKind::Gone as u64;
    if !gone {
        recovery::stopped(state, fault.component);
    }
    pass_on(state.system);
    let system = state.system;
    let task = fault.thread.checked_sub(system.thread_of(TaskId(0))).map(|task| TaskId(task as u16));
    let own = task.filter(|task| system.own(*task).is_some());
    let child = system.children.iter().any(|child| child.component == fault.component);
    if own.is_none() && !child {
        // The business of a scheduler below.
        return 0;
    }
    let (kind, survives) = (fault.kind, fault.survives != 0);
    if !(survives && gone) {
        let ticket = fault_ticket(survives, fault.instruction);
        record(state, EventKind::Fault, own, fault.component as u32, (kind as u8, fault.address, ticket));
    }
    let runs = state.running.task();
    let lost = own.is_some() && !survives && runs == own;
    let below = runs.and_then(|runs| system.child(runs)).is_some_and(|it| it.component == fault.component);
    match (lost, below) {
        (true, _) => {
            let lost = recovery::lost_with(state, fault.thread);
            job_lost(state, lost)
        }
        (_, true) => REMOVED,
        _ => 0,
    }
}

/// Passes on which components stay stopped: the root's own findings, or those of the parent, to each child.
pub fn pass_on(system: &System) {
    if system.recovery.is_empty() {
        return;
    }
    let known = system.recovery.given_up((!system.root).then(StoppedSet::of_parent));
    for child in &system.children {
        known.publish_to(child.component);
    }
}

/// Who was to run cannot: what is due since.
#[cold]
pub fn lost(state: &mut CoreState) -> u64 {
    pass_on(state.system);
    match state.running.task() {
        Some(task) if state.system.own(task).is_some() => {
            let lost = recovery::lost_with(state, state.system.thread_of(task));
            job_lost(state, lost)
        }
        _ => REMOVED,
    }
}

/// What is due since the running job or its task ended with its component.
fn job_lost(state: &mut CoreState, lost: Lost) -> u64 {
    if lost == Lost::Task {
        return REMOVED;
    }
    if let Some(index) = state.running.task().and_then(|task| state.system.own(task)) {
        state.system.jobs[index].finish();
    }
    COMPLETED
}

/// The scheduler below is removed: so are all tasks of it and of those below it. Told once, by the core that finds out first.
#[cold]
pub fn gone(state: &mut CoreState, task: TaskId) {
    let system: &System = state.system;
    let Some(child) = system.child(task) else { return };
    if child.lost.swap(true, Ordering::Relaxed) {
        return;
    }
    for task in &child.tasks {
        record(state, EventKind::Removed, Some(*task), 0, (0, 0, 0));
    }
}

fn record(
    state: &mut CoreState,
    kind: EventKind,
    task: Option<TaskId>,
    job: u32,
    (level, arg, ticket): (u8, u64, u32),
) {
    let core = CoreId(state.core);
    state.ring.record(Record { time: clock::now(), arg, job, task, kind, level, core, ticket });
}
