//! Components that were stopped: a task's, whose jobs end with it, or a scheduler's below, whose tasks do.

use crate::state::{CoreState, System};
use crate::REMOVED;
use core::ptr::addr_of;
use core::sync::atomic::Ordering;
use tactus_policy::Below;
use tactus_record::{FaultKind, Kind, Record, Sink};
use tactus_rt::abi::shared::Region;
use tactus_rt::clock;
use tactus_rt::time::{CoreId, TaskId};

/// A component was stopped while this core ran a thread of this scheduler's or of one below. What is due from then on.
#[cold]
pub fn told(state: &mut CoreState, region: *mut Region) -> u64 {
    // SAFETY: the core's region; written before the event was posted.
    let fault = unsafe { addr_of!((*region).fault).read_volatile() };
    let system = state.system;
    let task = fault.thread.checked_sub(system.thread_of(TaskId(0))).map(|task| TaskId(task as u16));
    let own = task.filter(|task| system.own(*task).is_some());
    let child = system.below.iter().any(|child| child.component == fault.component);
    if own.is_none() && !child {
        // The business of a scheduler below.
        return 0;
    }
    let (kind, survives) = (fault.kind, fault.survives != 0);
    if !(survives && kind == FaultKind::Gone as u64) {
        record(state, Kind::Fault, own, fault.component as u32, (kind as u8, fault.address, survives.into()));
    }
    let runs = state.running.task();
    let lost = own.is_some() && !survives && runs == own;
    let below = runs.and_then(|runs| system.child(runs)).is_some_and(|(_, it)| it.component == fault.component);
    if lost || below {
        REMOVED
    } else {
        0
    }
}

/// The scheduler below is removed: so are all tasks of it and of those below it. Told once, by the core that finds out first.
#[cold]
pub fn gone(state: &mut CoreState, task: TaskId) {
    let system: &System = state.system;
    let Some((Below { tasks, .. }, child)) = system.child(task) else { return };
    if child.lost.swap(true, Ordering::Relaxed) {
        return;
    }
    for task in tasks {
        record(state, Kind::Removed, Some(*task), 0, (0, 0, 0));
    }
}

fn record(state: &mut CoreState, kind: Kind, task: Option<TaskId>, job: u32, (level, arg, ticket): (u8, u64, u32)) {
    let core = CoreId(state.core);
    state.ring.record(Record { time: clock::now(), arg, job, task, kind, level, core, ticket });
}
