//! The rules for deadlines after the next release: several jobs of a task may be under way, and are served in the order of their releases.

use super::health::overrun_remedy;
use crate::draft::Draft;
use crate::problem::Collector;
use crate::{Overrun, System, MAX_UNDER_WAY};

/// Refuses such deadlines where a job has to be over when the next one is released.
pub(super) fn check(draft: &Draft, system: &System, out: &mut Collector) {
    for (n, task) in system.tasks.iter().enumerate().filter(|(_, task)| task.deadline > task.period) {
        let drafted = &draft.tasks[n];
        let place = drafted.deadline.get().map_or(drafted.place, |at| at.place);
        let placing = system.scheduling.places.get(n).copied().unwrap_or_default();
        let jitter = placing.release.burst().map_or(0, |burst| burst.jitter.div_ceil(task.period));
        if task.deadline.div_ceil(task.period).saturating_add(jitter) > MAX_UNDER_WAY {
            let limit = format!("so long that more than {MAX_UNDER_WAY} jobs may be under way");
            out.out_of_range(
                place,
                &drafted.subject,
                "deadline",
                task.deadline,
                limit,
                "lower it, or lengthen the period",
            );
        }
        let mut refuse = |why: &str, remedy: &str| {
            let why = format!("a deadline of {} is more than its period of {}, and {why}", task.deadline, task.period);
            out.refuse(place, &drafted.subject, why, remedy);
        };
        let lower = "lower it to the period or less";
        match placing.overrun {
            Overrun::Skip => {
                refuse("a release is left out while the job before is in time", &overrun_remedy(&system.scheduling, n))
            }
            Overrun::Stop => {
                refuse("a job that stops goes on in its next period", &overrun_remedy(&system.scheduling, n))
            }
            Overrun::Continue | Overrun::Kill => {}
        }
        if !system.scheduling.changes.is_empty() {
            refuse("in a system that changes while it runs a job is due before the next one is released", lower);
        }
        let asks = |it: &crate::Service| it.server == n || it.clients.iter().any(|client| client.tasks.contains(&n));
        if system.services.iter().any(asks) {
            refuse("a client has one request at a time", lower);
        }
    }
}
