//! What makes a set-up usable under any policy.

use crate::error::MAX_TASKS;
use crate::{Clusters, PolicyConfig, PolicyConfigError, PolicySpec, Task};
use tactus_time::{TaskId, MAX_CORES};

/// Finds the first thing that would be wrong under any policy.
pub(crate) fn check(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
    if setup.cores == 0 || setup.cores > MAX_CORES {
        return Err(PolicyConfigError::CoreCount(setup.cores));
    }
    if setup.tasks.len() > MAX_TASKS {
        return Err(PolicyConfigError::TaskCount(setup.tasks.len()));
    }
    let zero = setup.tasks.iter().position(|task| task.period.is_zero());
    zero.map_or(Ok(()), |n| Err(PolicyConfigError::ZeroPeriod(TaskId(n as u16))))
}

/// Where the policy orders by priorities that come with it, there has to be one for each task.
pub(crate) fn priorities(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
    let given = match &setup.kind {
        PolicySpec::PartitionedFp(given)
        | PolicySpec::GlobalFp(given)
        | PolicySpec::ClusteredFp(Clusters { priorities: given, .. }) => given,
        _ => return Ok(()),
    };
    match given.0.len() == setup.tasks.len() {
        true => Ok(()),
        false => Err(PolicyConfigError::PriorityCount(given.0.len())),
    }
}

/// Finds the first task that the policy binds to a core and that has none, or one that does not exist.
pub(crate) fn cores_of_tasks(setup: &PolicyConfig, binds: impl Fn(&Task) -> bool) -> Result<(), PolicyConfigError> {
    for (n, task) in setup.tasks.iter().enumerate().filter(|(_, task)| binds(task)) {
        let id = TaskId(n as u16);
        let core = task.core.ok_or(PolicyConfigError::NoCore(id))?;
        if core.index() >= setup.cores {
            return Err(PolicyConfigError::CoreOutOfRange(id, core));
        }
    }
    Ok(())
}
