//! The multiprocessor resource sharing protocol (MrsP), partitioned fixed priorities.
//!
//! Burns and Wellings, "A schedulability compatible multiprocessor resource sharing protocol", ECRTS 2013. A request
//! raises the job to the resource's ceiling on its core and enters a FIFO queue, in which each core is at most once; while
//! the holder is preempted on its core, a waiting job that runs does the holder's work. So a request takes, waiting
//! included, the sections of all cores that share it, and looks from its own core like one under the immediate ceiling:
//!
//! ```text
//! e(r) = Σ_{cores} max length(r) there
//! Cᵢ'  = Cᵢ + Σ_r countᵢ(r)·(e(r) − lengthᵢ(r))
//! Bᵢ   = max{ e(r) : r reaches i on the core and a less urgent task of the core uses it }
//! ```
//!
//! (The paper takes the longest section anywhere, times the number of cores.) Sufficient. Costs of helping are not in it.

use super::{below, ceiling_reaches, longest_elsewhere, responses_with, Sharing};
use crate::effort::Effort;
use crate::task::Sporadic;
use tactus_time::Duration;

/// e(r) as seen from a core: a section of its own, and one of every other.
pub fn section(tasks: &[Sharing], core: usize, resource: usize) -> Duration {
    let own = tasks.iter().filter(|s| s.core == core).map(|s| s.longest(resource)).max().unwrap_or(Duration::ZERO);
    longest_elsewhere(tasks, core, resource).into_iter().fold(own, |sum, l| sum + l)
}

/// Bᵢ.
pub fn blocking(tasks: &[Sharing], i: usize) -> Duration {
    let sections = below(tasks, i).flat_map(|s| &s.requests);
    let reaching = sections.filter(|r| r.count > 0 && ceiling_reaches(tasks, i, r.resource));
    reaching.map(|r| section(tasks, tasks[i].core, r.resource)).max().unwrap_or(Duration::ZERO)
}

/// C': the execution time with all waiting.
pub fn inflated(tasks: &[Sharing], i: usize) -> Sporadic {
    let own = &tasks[i];
    let wait = |r: &super::Request| {
        let beyond = section(tasks, own.core, r.resource).saturating_sub(r.length);
        beyond.checked_mul(r.count).unwrap_or(Duration::MAX)
    };
    let waits = own.requests.iter().map(wait);
    let execution = waits.fold(own.task.execution, |sum, w| sum.checked_add(w).unwrap_or(Duration::MAX));
    Sporadic { execution, ..own.task }
}

/// The response-time bound of every task on its core.
pub fn responses(tasks: &[Sharing], effort: &mut Effort) -> Vec<Option<Duration>> {
    let all: Vec<Sporadic> = (0..tasks.len()).map(|i| inflated(tasks, i)).collect();
    responses_with(tasks, &all, |i| blocking(tasks, i), effort)
}
