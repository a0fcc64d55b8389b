//! Partitions as they are kept, so that their rules can be held against the trace again.

use serde::{Deserialize, Serialize};
use tactus_task::{ScheduleSwitch, Window};
use tactus_time::{CoreId, Duration, TaskId};
use tactus_trace::PartitionView;

/// [`PartitionView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    criticality: String,
    frame_ns: u64,
    windows: Vec<StoredWindow>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    switches: Vec<StoredSwitch>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    background: bool,
    tasks: Vec<u16>,
}

#[derive(Serialize, Deserialize)]
struct StoredWindow {
    core: u8,
    start_ns: u64,
    length_ns: u64,
    #[serde(default, skip_serializing_if = "is_first")]
    schedule: u8,
}

fn is_first(schedule: &u8) -> bool {
    *schedule == 0
}

#[derive(Serialize, Deserialize)]
struct StoredSwitch {
    frame: u64,
    schedule: u8,
}

/// What is kept of a partition.
pub(super) fn store(partition: &PartitionView) -> Stored {
    let window = |window: &Window| StoredWindow {
        core: window.core.0,
        start_ns: window.start.as_nanos(),
        length_ns: window.length.as_nanos(),
        schedule: window.schedule,
    };
    Stored {
        name: partition.name.clone(),
        criticality: partition.criticality.clone(),
        frame_ns: partition.frame.as_nanos(),
        windows: partition.windows.iter().map(window).collect(),
        switches: partition.switches.iter().map(|it| StoredSwitch { frame: it.frame, schedule: it.schedule }).collect(),
        background: partition.background,
        tasks: partition.tasks.iter().map(|task| task.0).collect(),
    }
}

/// The partition again.
///
/// # Errors
/// If one of its tasks is not there, or it has a frame of no length.
pub(super) fn restore(stored: Stored, tasks: usize) -> Result<PartitionView, String> {
    if let Some(task) = stored.tasks.iter().find(|task| usize::from(**task) >= tasks) {
        return Err(format!("partition {:?} has task {task}, which is not there", stored.name));
    }
    if stored.frame_ns == 0 {
        return Err(format!("partition {:?} has a major frame of no length", stored.name));
    }
    let window = |window: StoredWindow| Window {
        core: CoreId(window.core),
        start: Duration::from_nanos(window.start_ns),
        length: Duration::from_nanos(window.length_ns),
        schedule: window.schedule,
    };
    Ok(PartitionView {
        name: stored.name,
        criticality: stored.criticality,
        frame: Duration::from_nanos(stored.frame_ns),
        windows: stored.windows.into_iter().map(window).collect(),
        switches: stored.switches.iter().map(|it| ScheduleSwitch { frame: it.frame, schedule: it.schedule }).collect(),
        background: stored.background,
        tasks: stored.tasks.into_iter().map(TaskId).collect(),
    })
}
