//! What must be true of changes, chains and services of a kept run, beyond what their types say.

use tactus_trace::{Action, ChainView, Changes, ServiceView};

/// Whether changes tell of each task and name cores that there are.
///
/// # Errors
/// With the first that does not.
pub(super) fn changes(changes: &Changes, tasks: usize, cores: usize) -> Result<(), String> {
    let little = |what: &str| Err(format!("{what} does not tell of each task, or of a period of no length"));
    if changes.start.len() != tasks || changes.start.iter().any(|task| task.period.is_zero()) {
        return little("the start");
    }
    for change in &changes.list {
        if change.core.index() >= cores {
            return Err(format!("{}: there is no core {}", change.what, change.core));
        }
        let no_length = matches!(change.action, Action::Alters { period: Some(period), .. } if period.is_zero());
        if change.promises.len() != tasks || no_length {
            return little(&change.what);
        }
    }
    Ok(())
}

/// The chain, with a word for each task of whether it is told by messages.
///
/// # Errors
/// If one of its tasks is not there.
pub(super) fn chain(mut chain: ChainView, tasks: usize) -> Result<ChainView, String> {
    if let Some(task) = chain.tasks.iter().find(|task| task.index() >= tasks) {
        return Err(format!("chain {}: there is no task {}", chain.name, task.0));
    }
    if chain.told.is_empty() {
        chain.told = vec![false; chain.tasks.len().saturating_sub(1)];
    }
    Ok(chain)
}

/// Whether the service's server is there.
///
/// # Errors
/// If it is not.
pub(super) fn service(service: &ServiceView, tasks: usize) -> Result<(), String> {
    match service.server.index() < tasks {
        true => Ok(()),
        false => Err(format!("service {:?} has task {}, which is not there", service.name, service.server.0)),
    }
}
