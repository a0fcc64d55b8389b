//! The rules for what keeps a started job's core from more urgent ones: preemption thresholds.

use crate::draft::{Draft, DraftTask};
use crate::problem::{Collector, Location};
use crate::{Migration, Overrun, Policy, Schedulers, Scheduling, TaskOrder, MAX_PRIORITY};

/// Sets the preemption threshold of each task.
pub(super) fn resolve(draft: &Draft, policy: Policy, scheduling: &mut Scheduling, out: &mut Collector) {
    for n in 0..draft.tasks.len() {
        let drafted = &draft.tasks[n];
        let Some(at) = drafted.placing.threshold.get() else { continue };
        let subject = drafted.subject.as_str();
        let by_priority = Policy::Ordered { spread: Migration::Partitioned, order: TaskOrder::FixedPriority };
        if policy != by_priority {
            let why = "a preemption threshold is given, but its core does not order by priority";
            out.refuse(at.place, subject, why, "remove it, or choose kind = \"partitioned-fp\"");
            continue;
        }
        if !alone(draft, at.place, drafted, "preemption threshold", scheduling, out) {
            continue;
        }
        let Some(place) = scheduling.places.get_mut(n) else { continue };
        match u32::try_from(at.value) {
            Ok(threshold) if threshold > MAX_PRIORITY => {
                out.out_of_range(
                    at.place,
                    subject,
                    "preemption-threshold",
                    at.value,
                    "above every priority",
                    "lower it",
                );
            }
            Ok(threshold) if threshold < place.priority => {
                let limit = format!("less than its priority of {}", place.priority);
                out.out_of_range(at.place, subject, "preemption-threshold", at.value, limit, "raise it");
            }
            Ok(threshold) => place.threshold = Some(threshold),
            Err(_) => {
                out.out_of_range(
                    at.place,
                    subject,
                    "preemption-threshold",
                    at.value,
                    "above every priority",
                    "lower it",
                );
            }
        }
        if matches!(place.overrun, Overrun::Stop | Overrun::Kill) {
            let at = drafted.placing.overrun.get().map_or(drafted.place, |at| at.place);
            let why = "a job that others may not preempt goes on until it is complete";
            out.refuse(at, subject, why, "choose another overrun rule");
        }
    }
}

/// Whether one scheduler of one core by itself decides, in a system that does not change.
fn alone(
    draft: &Draft,
    at: Location,
    drafted: &DraftTask,
    what: &str,
    scheduling: &Scheduling,
    out: &mut Collector,
) -> bool {
    let mut refuse = |why: String, remedy: &str| {
        out.refuse(at, &drafted.subject, why, remedy);
        false
    };
    if scheduling.schedulers == Schedulers::PerServer {
        return refuse(format!("a {what} needs one scheduler for all"), "choose schedulers = \"single\"");
    }
    if !scheduling.servers.is_empty() {
        let why = format!("a {what} is given in a system with servers, whose blocking no test here bounds");
        return refuse(why, "remove it, or the servers");
    }
    if !draft.changes.is_empty() {
        let why = format!("a {what} is given in a system that changes while it runs");
        return refuse(why, "remove it, or the changes");
    }
    true
}
