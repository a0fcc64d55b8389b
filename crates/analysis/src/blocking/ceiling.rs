//! Priority ceilings on one core: PCP, the immediate ceiling protocol and the stack resource policy.
//!
//! Sha, Rajkumar and Lehoczky 1990, theorem 12 (PCP); Baker, "Stack-based scheduling of realtime processes", Real-Time
//! Systems 3, 1991 (SRP, for fixed priorities the immediate ceiling protocol). A job is blocked at most once, for one
//! section of a less urgent job on a resource whose ceiling reaches it:
//!
//! ```text
//! fixed priorities: Bᵢ = max_{k less urgent, r reaching i} lengthₖ(r)
//! EDF and SRP:      dbf(t) + max{ lengthₖ(r) : Dₖ > t, r used by some D ≤ t } ≤ t for every deadline t
//! ```
//!
//! The second is Baruah, "Resource sharing in EDF-scheduled systems: a closer look", RTSS 2006; every deadline up to the
//! end of the busy period is looked at, since the blocking falls as t grows.

use super::{responses_with, Sections, Sharing};
use crate::effort::Effort;
use crate::task::{to_duration, withheld, Dedicated, Sporadic, Withheld};
use crate::uniprocessor::edf_demand::{jobs_due, Demand, Tightest};
use crate::uniprocessor::{busy_period, overloaded};
use tactus_time::Duration;

/// Bᵢ under fixed priorities.
pub fn blocking(sections: &Sections, i: usize) -> Duration {
    let lower = sections.below(i).flat_map(|s| &s.requests);
    let reaching = lower.filter(|r| r.count > 0 && sections.ceiling_reaches(i, r.resource));
    reaching.map(|r| r.length).max().unwrap_or(Duration::ZERO)
}

/// The response-time bound of every task on its core, under fixed priorities.
pub fn responses(tasks: &[Sharing], effort: &mut Effort) -> Vec<Option<Duration>> {
    let own: Vec<_> = tasks.iter().map(|s| s.task).collect();
    let sections = Sections::of(tasks);
    responses_with(tasks, &own, |i| blocking(&sections, i), effort)
}

/// Whether EDF with SRP meets every deadline of the tasks, which share one core. Preemption levels follow relative
/// deadlines; jitter only adds demand.
pub fn edf_schedulable(tasks: &[Sharing], effort: &mut Effort) -> Demand {
    let own: Vec<Sporadic> = tasks.iter().map(|s| s.task).collect();
    let longest = tasks.iter().flat_map(|s| &s.requests).map(|r| i128::from(r.length.as_nanos())).max().unwrap_or(0);
    edf_schedulable_with(&own, (longest, &|t| blocking_of(tasks, t)), &Dedicated, effort, &mut Tightest::default())
}

/// The same on a processor that withholds time. `blocking_of` is the longest blocking of a job with a deadline `t` after the start
/// of its busy period, `longest` the longest of all; `tightest` is shown all windows.
pub(crate) fn edf_schedulable_with(
    own: &[Sporadic],
    (longest, blocking_of): (i128, &dyn Fn(i128) -> i128),
    processor: &dyn Withheld,
    effort: &mut Effort,
    tightest: &mut Tightest,
) -> Demand {
    if overloaded(own) {
        return Demand::Overload;
    }
    let Some(l) = busy_period(own, longest, processor, effort) else { return Demand::Undecided };
    let mut deadlines: Vec<i128> = Vec::new();
    for τ in own {
        let mut t = (τ.d() - τ.j()).max(0);
        while t <= l {
            if !effort.spend(1) {
                return Demand::Undecided;
            }
            deadlines.push(t);
            t += τ.t();
        }
    }
    deadlines.sort_unstable();
    deadlines.dedup();
    for t in deadlines {
        if !effort.spend(2 * own.len()) {
            return Demand::Undecided;
        }
        let jobs = own.iter().map(|τ| jobs_due(τ, t) * τ.c()).sum::<i128>();
        let demand = tightest.looked_at(t, jobs + blocking_of(t) + withheld(processor, t));
        if demand > t {
            return Demand::Exceeds { window: to_duration(t), demand: to_duration(demand) };
        }
    }
    Demand::Fits
}

/// The longest section of a job with a deadline after t on a resource that a job with a deadline within t may want.
fn blocking_of(tasks: &[Sharing], t: i128) -> i128 {
    let uses = |s: &Sharing, resource| s.requests.iter().any(|r| r.resource == resource && r.count > 0);
    let reaches = |r: usize| tasks.iter().any(|s| s.task.d() - s.task.j() <= t && uses(s, r));
    let later = tasks.iter().filter(|s| s.task.d() > t).flat_map(|s| &s.requests);
    let sections = later.filter(|r| r.count > 0 && reaches(r.resource));
    sections.map(|r| i128::from(r.length.as_nanos())).max().unwrap_or(0)
}
