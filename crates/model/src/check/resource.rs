//! The rules for what keeps a started job's core from more urgent ones: preemption thresholds, and the resources that jobs hold in
//! critical sections.

use crate::draft::{Draft, DraftSection, DraftTask, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::{
    Migration, Overrun, Policy, Resource, Schedulers, Scheduling, Section, Task, TaskOrder, MAX_PRIORITY,
    MAX_RESOURCES, MAX_SECTIONS, SHORTEST_SECTION,
};
use tactus_task::{ResourceProtocol, Sections};
use tactus_time::Duration;

/// Sets the preemption threshold and the critical sections of each task.
pub(super) fn resolve(draft: &Draft, policy: Policy, tasks: &[Task], scheduling: &mut Scheduling, out: &mut Collector) {
    thresholds(draft, policy, scheduling, out);
    resources(draft, scheduling, out);
    let given = |drafted: &DraftTask| drafted.placing.sections.get().is_some();
    if draft.tasks.iter().any(given) && out.is_empty() {
        let sections = (0..tasks.len()).map(|n| sections(draft, n, (policy, tasks), scheduling, out)).collect();
        scheduling.sections = sections;
        users(draft, tasks, scheduling, out);
        order(draft, scheduling, out);
        beside(draft, tasks, scheduling, out);
        nested(draft, tasks, scheduling, out);
    }
}

fn thresholds(draft: &Draft, policy: Policy, scheduling: &mut Scheduling, out: &mut Collector) {
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
        if !alone(draft, at.place, subject, "preemption threshold", scheduling, out) {
            continue;
        }
        let Some(place) = scheduling.places.get_mut(n) else { continue };
        match u32::try_from(at.value).ok().filter(|threshold| *threshold <= MAX_PRIORITY) {
            Some(threshold) if threshold < place.priority => {
                let limit = format!("less than its priority of {}", place.priority);
                out.out_of_range(at.place, subject, "preemption-threshold", at.value, limit, "raise it");
            }
            Some(threshold) => place.threshold = Some(threshold),
            None => {
                let limit = "above every priority";
                out.out_of_range(at.place, subject, "preemption-threshold", at.value, limit, "lower it");
            }
        }
        goes_on(drafted, place.overrun, out);
    }
}

/// A job that keeps its core from others is not stopped in the middle.
fn goes_on(drafted: &DraftTask, overrun: Overrun, out: &mut Collector) {
    if matches!(overrun, Overrun::Stop | Overrun::Kill) {
        let at = drafted.placing.overrun.get().map_or(drafted.place, |at| at.place);
        let why = "a job that others may not preempt goes on until it is complete";
        out.refuse(at, &drafted.subject, why, "choose another overrun rule");
    }
}

/// Whether one scheduler of one core by itself decides, in a system that does not change.
fn alone(draft: &Draft, at: Location, subject: &str, what: &str, scheduling: &Scheduling, out: &mut Collector) -> bool {
    let mut refuse = |why: String, remedy: &str| {
        out.refuse(at, subject, why, remedy);
        false
    };
    if scheduling.schedulers == Schedulers::PerServer {
        return refuse(format!("a {what} needs one scheduler for all"), "choose schedulers = \"single\"");
    }
    if !scheduling.servers.is_empty() {
        let why = format!("a {what} is given in a system with servers, whose blocking no test here bounds");
        return refuse(why, "remove it, or the servers");
    }
    if !draft.platform.root.is_absent() {
        let why = format!("a {what} is given, and the system has a root scheduler of its own, which knows none");
        return refuse(why, "remove it, or the root of its own");
    }
    if !draft.changes.is_empty() {
        let why = format!("a {what} is given in a system that changes while it runs");
        return refuse(why, "remove it, or the changes");
    }
    true
}

/// The resources of the file.
fn resources(draft: &Draft, scheduling: &mut Scheduling, out: &mut Collector) {
    if let Some(one_more) = draft.resources.get(MAX_RESOURCES) {
        let count = draft.resources.len();
        let limit = format!("more than {MAX_RESOURCES}");
        out.out_of_range(one_more.place, "", "the number of resources", count, limit, "leave some out");
    }
    for drafted in &draft.resources {
        let (Some(name), Some(protocol)) = (drafted.name.get(), drafted.protocol.value()) else { continue };
        let (name, line) = (name.value.clone(), drafted.place.line);
        let withdrawn = drafted.withdrawn.value().unwrap_or(false);
        scheduling.resources.push(Resource { name, protocol, withdrawn, line });
    }
}

/// The sections of one task, each by itself and beside each other.
fn sections(
    draft: &Draft,
    n: usize,
    (policy, tasks): (Policy, &[Task]),
    scheduling: &Scheduling,
    out: &mut Collector,
) -> Vec<Section> {
    let drafted = &draft.tasks[n];
    let Some(at) = drafted.placing.sections.get().filter(|at| !at.value.is_empty()) else { return Vec::new() };
    let partitioned = match policy {
        Policy::PartitionedRm | Policy::PartitionedEdf => true,
        Policy::Ordered { spread: Migration::Partitioned, order } => order.orders_servers(),
        _ => false,
    };
    if !partitioned {
        let why = "critical sections are given, and its policy knows none";
        let remedy = "choose partitioned-fp, partitioned-rm, partitioned-dm or partitioned-edf";
        out.refuse(at.place, &drafted.subject, why, remedy);
        return Vec::new();
    }
    if !alone(draft, at.place, &drafted.subject, "critical section", scheduling, out) {
        return Vec::new();
    }
    if at.value.len() > MAX_SECTIONS {
        let (count, limit) = (at.value.len(), format!("more than {MAX_SECTIONS}"));
        out.out_of_range(at.place, &drafted.subject, "the number of sections", count, limit, "leave some out");
        return Vec::new();
    }
    goes_on(drafted, scheduling.places.get(n).copied().unwrap_or_default().overrun, out);
    let execution = tasks[n].budget();
    let mut made: Vec<Section> = Vec::new();
    for section in &at.value {
        let Some(one) = one(section, execution, scheduling, out) else { continue };
        // Those that really take longer count by what they take.
        let longer = |it: &Section| Section { length: it.length.max(it.actual.unwrap_or(it.length)), ..*it };
        let (own, subject) = (longer(&one), section.subject.as_str());
        for other in made.iter().map(longer) {
            let apart = own.end() <= other.after || other.end() <= own.after;
            let same = (own.after, own.end()) == (other.after, other.end());
            let around = own.holds(&other) || other.holds(&own);
            let name = &scheduling.resources[other.resource].name;
            if !apart && (same || !around) {
                let why = format!("it begins in the section on {name:?} and ends outside, or both are the same time");
                out.refuse(section.place, subject, why, "let one lie inside the other, or one after the other");
            } else if !apart && other.resource == own.resource {
                let why = format!("{name:?} is held already there");
                out.refuse(section.place, subject, why, "remove the inner section");
            }
        }
        made.push(one);
        let around = made.iter().filter(|other| other.holds(&one)).count();
        if around >= Sections::DEEPEST {
            let (depth, limit) = (around + 1, format!("more than {}", Sections::DEEPEST));
            let what = "the number of resources held at once";
            out.out_of_range(section.place, subject, what, depth, limit, "hold fewer at once");
        }
    }
    made
}

/// A section by itself.
fn one(drafted: &DraftSection, execution: Duration, scheduling: &Scheduling, out: &mut Collector) -> Option<Section> {
    let (name, after, length) = (drafted.resource.get()?, drafted.after.get()?, drafted.length.get()?);
    let subject = drafted.subject.as_str();
    let Some(resource) = scheduling.resources.iter().position(|resource| resource.name == name.value) else {
        let complaint = Complaint::UnknownName {
            what: "resource",
            nearest: nearest(&name.value, scheduling.resources.iter().map(|resource| resource.name.as_str())),
            name: name.value.chars().take(40).collect(),
            remedy: "name a [[resource]] of this file".into(),
        };
        out.add(name.place, subject, complaint);
        return None;
    };
    for (what, given) in [("length", Some(length)), ("actual", drafted.actual.get())] {
        let Some(at) = given.filter(|at| at.value < SHORTEST_SECTION) else { continue };
        let limit = format!("less than the {SHORTEST_SECTION} that a section takes at least");
        out.out_of_range(at.place, subject, what, at.value, limit, "raise it");
        return None;
    }
    let section = Section { resource, after: after.value, length: length.value, actual: drafted.actual.value() };
    if section.end() > execution {
        let why =
            format!("it ends when the job has executed {}, and a job executes {execution} at most", section.end());
        out.refuse(length.place, subject, why, "shorten it, begin it earlier, or raise execution");
        return None;
    }
    if matches!(drafted.actual, Given::Broken) {
        return None;
    }
    Some(section)
}

/// All users of a resource are on one core, where its protocol needs that.
fn users(draft: &Draft, tasks: &[Task], scheduling: &Scheduling, out: &mut Collector) {
    for (r, resource) in scheduling.resources.iter().enumerate().filter(|(_, it)| !it.protocol.spans_cores()) {
        let mut users = (0..tasks.len()).filter(|n| scheduling.sections[*n].iter().any(|it| it.resource == r));
        let Some(first) = users.next() else { continue };
        let Some(other) = users.find(|n| tasks[*n].core != tasks[first].core) else { continue };
        let core = |n: usize| tasks[n].core.map_or("no core".into(), |core| format!("core {core}"));
        let why = format!(
            "{:?} is used by {:?} on {} and by {:?} on {}, and its protocol keeps off only who is on the same core",
            resource.name,
            tasks[first].name,
            core(first),
            tasks[other].name,
            core(other)
        );
        let place = draft.tasks[other].placing.sections.get().map_or(draft.tasks[other].place, |at| at.place);
        out.refuse(
            place,
            &draft.tasks[other].subject,
            why,
            "put all that use it on one core, or choose protocol = \"msrp\"",
        );
    }
}

/// Jobs that may wait for a resource in the middle of their work share no core with jobs that hold ceilings, which rest on that no job
/// that has begun ever waits.
fn beside(draft: &Draft, tasks: &[Task], scheduling: &Scheduling, out: &mut Collector) {
    let inherits = |n: usize| {
        let resources = scheduling.sections[n].iter().map(|section| &scheduling.resources[section.resource]);
        resources.into_iter().find(|it| it.protocol == ResourceProtocol::Inheritance).map(|it| it.name.as_str())
    };
    for (n, task) in tasks.iter().enumerate() {
        let ceilings = scheduling.sections[n].iter().map(|section| &scheduling.resources[section.resource]);
        let ceiling = ceilings.into_iter().find(|it| it.protocol != ResourceProtocol::Inheritance);
        let threshold = scheduling.places.get(n).is_some_and(|place| place.threshold.is_some());
        let other = (0..tasks.len()).filter(|other| tasks[*other].core == task.core).find_map(inherits);
        let (Some(other), true) = (other, ceiling.is_some() || threshold) else { continue };
        let own = ceiling.map_or("a preemption threshold".into(), |it| format!("{:?}", it.name));
        let why =
            format!("{own} keeps jobs from beginning, on a core where jobs that have begun may wait for {other:?}");
        let drafted = &draft.tasks[n];
        let place = drafted.placing.sections.get().map_or(drafted.place, |at| at.place);
        out.refuse(place, &drafted.subject, why, "choose one of inheritance and ceilings for each core");
        return;
    }
}

/// A resource of several cores is held alone: what is waited for inside would lengthen the wait of every other core.
fn nested(draft: &Draft, tasks: &[Task], scheduling: &Scheduling, out: &mut Collector) {
    for (n, sections) in scheduling.sections.iter().enumerate() {
        for (i, inner) in sections.iter().enumerate() {
            let spans = |it: &&Section| scheduling.spans_cores(it.resource, tasks);
            let Some(outer) = sections.iter().find(|outer| outer.holds(inner)) else { continue };
            let Some(shared) = [outer, inner].into_iter().find(spans) else { continue };
            let name = &scheduling.resources[shared.resource].name;
            let why = format!(
                "{name:?} is used on several cores, and one section lies inside another; no test here bounds that"
            );
            let at = draft.tasks[n].placing.sections.get().and_then(|at| at.value.get(i));
            let place = at.map_or(draft.tasks[n].place, |at| at.place);
            out.refuse(place, &draft.tasks[n].subject, why, "take one after the other, or make them one resource");
            return;
        }
    }
}

/// Resources are taken in one order: no task holds one while it takes another that, by way of others, is taken around the first.
fn order(draft: &Draft, scheduling: &Scheduling, out: &mut Collector) {
    let count = scheduling.resources.len();
    // Whether the second is taken inside the first, directly or by others.
    let mut inside = vec![vec![false; count]; count];
    for (n, sections) in scheduling.sections.iter().enumerate() {
        for (i, inner) in sections.iter().enumerate() {
            for outer in sections.iter().filter(|outer| outer.holds(inner) && outer.resource != inner.resource) {
                let (a, b) = (outer.resource, inner.resource);
                if inside[b][a] {
                    let name = |r: usize| &scheduling.resources[r].name;
                    let why = format!(
                        "{:?} is taken inside {:?}, and elsewhere {:?} inside {:?}",
                        name(b),
                        name(a),
                        name(a),
                        name(b)
                    );
                    let drafted = &draft.tasks[n];
                    let at = drafted.placing.sections.get().and_then(|at| at.value.get(i));
                    let place = at.map_or(drafted.place, |at| at.place);
                    let subject = at.map_or(drafted.subject.as_str(), |at| at.subject.as_str());
                    out.refuse(place, subject, why, "take resources in one order everywhere");
                    return;
                }
                // Whatever is around the outer one, or is that, is around whatever is inside the inner one, or is that.
                let around: Vec<usize> = (0..count).filter(|x| *x == a || inside[*x][a]).collect();
                let within: Vec<usize> = (0..count).filter(|x| *x == b || inside[b][*x]).collect();
                for x in around {
                    within.iter().for_each(|y| inside[x][*y] = true);
                }
            }
        }
    }
}
