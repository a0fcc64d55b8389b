//! Chains of tasks as they are kept, so that their ends can be counted again.

use serde::{Deserialize, Serialize};
use tactus_time::{Duration, TaskId};
use tactus_trace::ChainView;

/// [`ChainView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    tasks: Vec<u16>,
    #[serde(default)]
    by_message: Vec<u16>,
    /// Left out where none is told by messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    told: Vec<bool>,
    /// Left out where none is told by a sampling channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    samples: Vec<(u16, u8)>,
    /// Left out where it is no service's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client: Option<u16>,
    deadline_ns: Option<u64>,
    bound_ns: Option<u64>,
}

/// What is kept of a chain.
pub(super) fn store(chain: &ChainView) -> Stored {
    Stored {
        name: chain.name.clone(),
        tasks: chain.tasks.iter().map(|task| task.0).collect(),
        by_message: chain.by_message.iter().map(|task| task.0).collect(),
        told: if chain.told.contains(&true) { chain.told.clone() } else { Vec::new() },
        samples: chain.samples.iter().map(|(task, channel)| (task.0, *channel)).collect(),
        client: chain.client,
        deadline_ns: chain.deadline.map(Duration::as_nanos),
        bound_ns: chain.bound.map(Duration::as_nanos),
    }
}

/// The chain again.
///
/// # Errors
/// If one of its tasks is not there.
pub(super) fn restore(chain: Stored, tasks: usize) -> Result<ChainView, String> {
    match chain.tasks.iter().find(|task| usize::from(**task) >= tasks) {
        Some(task) => Err(format!("chain {}: there is no task {task}", chain.name)),
        None => Ok(ChainView {
            name: chain.name,
            client: chain.client,
            samples: chain.samples.into_iter().map(|(task, channel)| (TaskId(task), channel)).collect(),
            told: match chain.told.len() {
                0 => vec![false; chain.tasks.len().saturating_sub(1)],
                _ => chain.told,
            },
            tasks: chain.tasks.into_iter().map(TaskId).collect(),
            by_message: chain.by_message.into_iter().map(TaskId).collect(),
            deadline: chain.deadline_ns.map(Duration::from_nanos),
            bound: chain.bound_ns.map(Duration::from_nanos),
        }),
    }
}
