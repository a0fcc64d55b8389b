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

use super::{responses_with, Request, Sections, Sharing};
use crate::effort::Effort;
use crate::task::Sporadic;
use tactus_time::Duration;

/// e(r): a section of each core that has one, the own one among them.
pub fn section(sections: &Sections, resource: usize) -> Duration {
    sections.on(resource).iter().map(|it| it.longest()).sum()
}

/// Bᵢ.
pub fn blocking(sections: &Sections, i: usize) -> Duration {
    let lower = sections.below(i).flat_map(|s| &s.requests);
    let reaching = lower.filter(|r| r.count > 0 && sections.ceiling_reaches(i, r.resource));
    reaching.map(|r| section(sections, r.resource)).max().unwrap_or(Duration::ZERO)
}

/// C': the execution time with all waiting.
pub fn inflated(sections: &Sections, i: usize) -> Sporadic {
    let own = &sections.tasks[i];
    let wait = |r: &Request| {
        let beyond = section(sections, r.resource).saturating_sub(r.length);
        beyond.checked_mul(r.count).unwrap_or(Duration::MAX)
    };
    let waits = own.requests.iter().map(wait);
    let execution = waits.fold(own.task.execution, |sum, w| sum.checked_add(w).unwrap_or(Duration::MAX));
    Sporadic { execution, ..own.task }
}

/// The response-time bound of every task on its core.
pub fn responses(tasks: &[Sharing], effort: &mut Effort) -> Vec<Option<Duration>> {
    let sections = Sections::of(tasks);
    let all: Vec<Sporadic> = (0..tasks.len()).map(|i| inflated(&sections, i)).collect();
    responses_with(tasks, &all, |i| blocking(&sections, i), effort)
}
