//! The multiprocessor stack resource policy (MSRP), partitioned fixed priorities.
//!
//! Gai, Lipari and Di Natale, "Minimizing memory utilization of real-time task sets in single and multi-processor
//! systems-on-a-chip", RTSS 2001. Resources of one core follow the immediate ceiling. A request for a global one makes the
//! job non-preemptible, and it spins in FIFO order, so that at most one section of each other core is before it:
//!
//! ```text
//! spin(r, P) = Σ_{other cores} max length(r) there
//! Cᵢ' = Cᵢ + Σ_r countᵢ(r)·spin(r)
//! Bᵢ  = max over less urgent tasks of the core: local lengths that reach i, global lengths + spin
//! ```
//!
//! Sufficient.

use super::{responses_with, Request, Sections, Sharing};
use crate::effort::Effort;
use crate::task::Sporadic;
use tactus_time::Duration;

/// spin(r, P): the longest wait for one request from the core.
pub fn spin(sections: &Sections, core: usize, resource: usize) -> Duration {
    sections.elsewhere(core, resource).map(|it| it.longest()).sum()
}

/// Bᵢ: the longest non-preemptible stretch, or section under a ceiling, of a less urgent task of the core.
pub fn blocking(sections: &Sections, i: usize) -> Duration {
    let stretch = |r: &Request| {
        if sections.is_global(r.resource) {
            r.length + spin(sections, sections.tasks[i].core, r.resource)
        } else if sections.ceiling_reaches(i, r.resource) {
            r.length
        } else {
            Duration::ZERO
        }
    };
    let lower = sections.below(i).flat_map(|s| &s.requests).filter(|r| r.count > 0);
    lower.map(stretch).max().unwrap_or(Duration::ZERO)
}

/// C': the execution time with all spinning.
pub fn inflated(sections: &Sections, i: usize) -> Sporadic {
    let own = &sections.tasks[i];
    let wait = |r: &Request| spin(sections, own.core, r.resource).checked_mul(r.count).unwrap_or(Duration::MAX);
    let waits = own.requests.iter().filter(|r| sections.is_global(r.resource)).map(wait);
    let execution = waits.fold(own.task.execution, |sum, w| sum.checked_add(w).unwrap_or(Duration::MAX));
    Sporadic { execution, ..own.task }
}

/// The response-time bound of every task on its core.
pub fn responses(tasks: &[Sharing], effort: &mut Effort) -> Vec<Option<Duration>> {
    let sections = Sections::of(tasks);
    let all: Vec<Sporadic> = (0..tasks.len()).map(|i| inflated(&sections, i)).collect();
    responses_with(tasks, &all, |i| blocking(&sections, i), effort)
}
