//! The priority inheritance protocol on one core.
//!
//! Sha, Rajkumar and Lehoczky, "Priority inheritance protocols: an approach to real-time synchronization", IEEE TC 39(9),
//! 1990, theorem 6: a job is blocked at most once by each less urgent job and at most once for each resource, in either
//! case by a section on a resource that somebody as urgent as the job uses:
//!
//! ```text
//! Bᵢ = min( Σ_{k less urgent} max_{r reaching i} lengthₖ(r),  Σ_{r reaching i} max_{k less urgent} lengthₖ(r) )
//! ```
//!
//! Sufficient: the longest sections need not meet in one schedule.

use super::{responses_with, Sections, Sharing};
use crate::effort::Effort;
use tactus_time::Duration;

/// Bᵢ.
pub fn blocking(sections: &Sections, i: usize) -> Duration {
    let reaching = |s: &Sharing| -> Vec<(usize, Duration)> {
        let own = s.requests.iter().filter(|r| r.count > 0 && sections.ceiling_reaches(i, r.resource));
        own.map(|r| (r.resource, r.length)).collect()
    };
    let by_task: Duration = sections.below(i).filter_map(|s| reaching(s).into_iter().map(|r| r.1).max()).sum();
    let mut all: Vec<(usize, Duration)> = sections.below(i).flat_map(reaching).collect();
    all.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
    all.dedup_by_key(|r| r.0);
    by_task.min(all.into_iter().map(|r| r.1).sum())
}

/// The response-time bound of every task on its core.
pub fn responses(tasks: &[Sharing], effort: &mut Effort) -> Vec<Option<Duration>> {
    let own: Vec<_> = tasks.iter().map(|s| s.task).collect();
    let sections = Sections::of(tasks);
    responses_with(tasks, &own, |i| blocking(&sections, i), effort)
}
