//! Tasks whose arrivals come in bursts: where there is a test for them, and where there is none.
//!
//! There is one for cores by themselves under fixed priorities and EDF, where nobody waits or shares. Elsewhere nothing is promised to
//! those whom the bursts may disturb; what is in another server than they are has its budget all the same.

use super::assumed::id;
use super::assumptions;
use super::partitioned::{Queue, Responses};
use super::rank::{self, Rank};
use super::report::{Check, TaskVerdict};
use crate::effort::Effort;
use crate::task::{Sporadic, Withheld};
use crate::uniprocessor::bursts::{response, schedulable, Bursty};
use tactus_model::{Migration, Policy, System, TaskOrder};
use tactus_time::Duration;

/// The least distances of arrivals of these tasks; empty if none comes in bursts, or there is no test.
pub(super) fn distances(system: &System, places: &[usize]) -> Vec<Duration> {
    let burst = |n: usize| system.scheduling.places.get(n).and_then(|place| place.release.burst());
    if !places.iter().any(|&n| burst(n).is_some()) || !is_known(system, places) {
        return Vec::new();
    }
    places.iter().map(|&n| burst(n).map_or(system.tasks[n].period, |burst| burst.distance)).collect()
}

/// Whether there is a test for bursts of these tasks, which share a core.
fn is_known(system: &System, places: &[usize]) -> bool {
    let order = match rank::of_policy(&system.policy) {
        Some((Migration::Partitioned, order)) => order,
        _ => return false,
    };
    let scheduling = &system.scheduling;
    let plain = |&n: &usize| {
        let threshold = scheduling.places.get(n).and_then(|place| place.threshold);
        scheduling.sections_of(n).is_empty() && scheduling.waits_of(n).is_empty() && threshold.is_none()
    };
    let fixed = matches!(
        order,
        TaskOrder::FixedPriority | TaskOrder::RateMonotonic | TaskOrder::DeadlineMonotonic | TaskOrder::ShortestJob
    );
    (fixed || order == TaskOrder::EarliestDeadline)
        && scheduling.servers.is_empty()
        && system.policy != Policy::Partitions
        && places.iter().all(plain)
}

/// The responses of one core's tasks, the most urgent first. `distances` is not empty.
pub(super) fn responses(
    tasks: &[Sporadic],
    queue: Queue,
    blocking: Duration,
    withheld: &dyn Withheld,
    effort: &mut Effort,
) -> (Responses, &'static str) {
    let pairs = tasks.iter().zip(queue.distances);
    let bursty: Vec<Bursty> = pairs.map(|(task, distance)| Bursty { task: *task, distance: *distance }).collect();
    if queue.rank == Rank::Edf {
        let fits = schedulable(&bursty, blocking, withheld, effort) == Some(true);
        let deadlines = tasks.iter().map(|task| fits.then_some(task.deadline)).collect();
        return (deadlines, "EDF demand with arrival curves; the deadline is the bound");
    }
    let one = |i: usize| response(&bursty[i], &bursty[..i], blocking, withheld, effort);
    ((0..bursty.len()).map(one).collect(), "response-time analysis with arrival curves (Richter)")
}

/// Takes away the bounds of those whom bursts may disturb where there is no test for them.
pub(super) fn unknown(system: &System, check: &mut Check) {
    for (n, task) in system.tasks.iter().enumerate() {
        if system.scheduling.places.get(n).is_none_or(|place| place.release.burst().is_none()) {
            continue;
        }
        let beside: Vec<usize> = (0..system.tasks.len()).filter(|i| system.tasks[*i].core == task.core).collect();
        if is_known(system, &beside) {
            continue;
        }
        for (i, other) in system.tasks.iter().enumerate() {
            if !assumptions::disturbs(system, (n, task), (i, other)) {
                continue;
            }
            let why = || {
                format!(
                    "no test: arrivals of `{}` come in bursts, and there is one for cores by themselves under fixed priorities or \
                     EDF alone, without sections, waits and servers",
                    task.name
                )
            };
            check.tasks[i].no_bound(why);
            // Its server's budget bounds what it takes from others, whatever arrives: it is served as it comes, and is no reason to
            // refuse the system.
            if system.scheduling.places[i].server.is_some() {
                check.findings.retain(|finding| finding.task != Some(id(i)));
                check.tasks[i].verdict = TaskVerdict::Untested(why());
            }
        }
    }
}
