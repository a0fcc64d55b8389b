//! The rules for jobs that wait in the middle of their work.

use crate::draft::{Draft, DraftWait, Given};
use crate::problem::Collector;
use crate::{Overrun, Policy, Schedulers, Scheduling, Task, TaskOrder, Wait, SHORTEST_SECTION};
use tactus_task::WaitLimit;
use tactus_time::Duration;

/// Sets the waits of each task. Comes after its critical sections.
pub(super) fn resolve(draft: &Draft, policy: Policy, tasks: &[Task], scheduling: &mut Scheduling, out: &mut Collector) {
    if draft.tasks.iter().any(|drafted| drafted.placing.waits.get().is_some_and(|at| !at.value.is_empty())) {
        scheduling.waits = (0..tasks.len()).map(|n| waits(draft, n, (policy, tasks), scheduling, out)).collect();
    }
}

/// Why jobs of the task may not wait, and what to do about it.
fn refused(draft: &Draft, n: usize, policy: Policy, scheduling: &Scheduling) -> Option<(&'static str, &'static str)> {
    let place = scheduling.places.get(n).copied().unwrap_or_default();
    let server = place.server.and_then(|server| scheduling.servers.get(server));
    let order = match (server, policy) {
        (Some(server), _) => Some(server.order),
        (None, Policy::Ordered { order, .. }) => Some(order),
        _ => None,
    };
    Some(match policy {
        Policy::Mc2 { .. } | Policy::Mixed(_) => {
            ("its jobs wait, and its policy knows none that do", "choose a policy without levels, or remove the waits")
        }
        _ if order == Some(TaskOrder::LeastLaxity) => {
            ("its jobs wait, and the laxity of a job that waits says nothing", "choose another order")
        }
        _ if scheduling.schedulers == Schedulers::PerServer => {
            ("its jobs wait, which needs one scheduler for all", "choose schedulers = \"single\"")
        }
        _ if !draft.platform.root.is_absent() => (
            "its jobs wait, and the system has a root scheduler of its own",
            "remove the waits, or the root of its own",
        ),
        _ if !draft.changes.is_empty() => {
            ("its jobs wait in a system that changes while it runs", "remove the waits, or the changes")
        }
        _ if place.overrun == Overrun::Stop => {
            ("its jobs wait and are stopped when their time is used up", "choose another overrun rule")
        }
        _ if place.threshold.is_some() => (
            "its jobs wait and hold a preemption threshold from their first dispatch to their end",
            "remove the threshold, or the waits",
        ),
        _ => return None,
    })
}

fn waits(
    draft: &Draft,
    n: usize,
    (policy, tasks): (Policy, &[Task]),
    scheduling: &Scheduling,
    out: &mut Collector,
) -> Vec<Wait> {
    let drafted = &draft.tasks[n];
    let Some(at) = drafted.placing.waits.get().filter(|at| !at.value.is_empty()) else { return Vec::new() };
    if let Some((why, remedy)) = refused(draft, n, policy, scheduling) {
        out.refuse(at.place, &drafted.subject, why, remedy);
        return Vec::new();
    }
    if at.value.len() > WaitLimit::MOST {
        let (count, limit) = (at.value.len(), format!("more than {}", WaitLimit::MOST));
        out.out_of_range(at.place, &drafted.subject, "the number of waits", count, limit, "leave some out");
        return Vec::new();
    }
    let mut made: Vec<Wait> = Vec::new();
    for drafted in &at.value {
        let Some(wait) = one(drafted, (n, tasks), scheduling, out) else { continue };
        if made.iter().any(|other| other.after == wait.after) {
            let why = format!("two waits come when the job has executed {}", wait.after);
            out.refuse(
                at.place,
                &drafted.subject,
                why,
                "write one as long as both, or let the job execute between them",
            );
        }
        made.push(wait);
    }
    made.sort_by_key(|wait| wait.after);
    made
}

/// A wait by itself.
fn one(
    drafted: &DraftWait,
    (n, tasks): (usize, &[Task]),
    scheduling: &Scheduling,
    out: &mut Collector,
) -> Option<Wait> {
    let (after, length) = (drafted.after.get()?, drafted.length.get()?);
    let subject = drafted.subject.as_str();
    for (what, given) in [("length", Some(length)), ("actual", drafted.actual.get())] {
        let Some(at) = given.filter(|at| at.value < SHORTEST_SECTION) else { continue };
        let limit = format!("less than the {SHORTEST_SECTION} that a wait takes at least");
        out.out_of_range(at.place, subject, what, at.value, limit, "raise it");
        return None;
    }
    let (execution, deadline) = (tasks[n].budget(), tasks[n].deadline);
    if after.value.is_zero() || after.value >= execution {
        let why = format!("it comes when the job has executed {}, and a job executes {execution} at most", after.value);
        out.refuse(after.place, subject, why, "let it begin after some of the job's execution, and before its end");
        return None;
    }
    if length.value > deadline {
        let limit = format!("more than its deadline of {deadline}");
        out.out_of_range(length.place, subject, "length", length.value, limit, "shorten it");
        return None;
    }
    let within = |it: &&crate::Section| it.after < after.value && after.value < it.end().max(it.actual_end());
    if let Some(section) = scheduling.sections_of(n).iter().find(within) {
        let name = &scheduling.resources[section.resource].name;
        let why = format!("the job holds {name:?} there, and nobody waits while others wait for what it holds");
        out.refuse(after.place, subject, why, "let it come before the section, or after it");
        return None;
    }
    if matches!(drafted.actual, Given::Broken) {
        return None;
    }
    Some(Wait { after: after.value, length: length.value, actual: drafted.actual.value() })
        .filter(|it| it.length > Duration::ZERO)
}
