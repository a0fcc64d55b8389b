//! The rules for tasks that time does not release, and for chains of them.

use super::health::overrun_remedy;
use super::source::{self, Parts};
use crate::draft::{At, Draft, DraftTask};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::{Body, Burst, Chain, EarlyArrival, Overrun, Policy, Release, Schedulers, Scheduling, System, Task};
use tactus_time::TaskId;

const MOST_TASKS_OF_A_CHAIN: usize = 64;
/// As many jobs of a task may wait.
const MOST_OF_A_BURST: u64 = 16;

/// Sets what releases each task.
pub(super) fn resolve(
    draft: &Draft,
    policy: Policy,
    (parts, scheduling): (&Parts, &mut Scheduling),
    out: &mut Collector,
) {
    let tasks = parts.tasks;
    for n in 0..tasks.len() {
        let (Some(release), Some(place)) = (of_task(draft, tasks, n, out), scheduling.places.get_mut(n)) else {
            continue;
        };
        let drafted = &draft.tasks[n];
        place.release = release;
        source::resolve(draft, n, parts, scheduling, out);
        if release.is_timed() {
            only_of_others(drafted, release, out);
        }
        if release != Release::Periodic {
            fits(draft, policy, n, (tasks, scheduling), out);
            bursts(drafted, (&tasks[n], release), out);
        }
    }
    for n in 0..tasks.len() {
        circle(draft, n, scheduling, out);
    }
}

/// Whether the file says that arrivals from outside release it, and not time.
fn is_from_outside(drafted: &DraftTask) -> bool {
    let placing = &drafted.placing;
    let arrives = placing.interrupt.get().is_some() || placing.message.get().is_some();
    arrives || placing.sporadic.value().unwrap_or(false)
}

/// What the task says of its releases.
fn of_task(draft: &Draft, tasks: &[Task], n: usize, out: &mut Collector) -> Option<Release> {
    let drafted = &draft.tasks[n];
    let placing = &drafted.placing;
    let early = placing.early.value().unwrap_or_default();
    let arrives = placing.interrupt.get().is_some() || placing.message.get().is_some();
    let Some(after) = placing.after.get().filter(|_| !arrives) else {
        let jitter = placing.jitter.value().filter(|jitter| !jitter.is_zero());
        let distance = placing.least_distance.value().unwrap_or_default();
        return Some(match (is_from_outside(drafted), jitter) {
            (false, None) => Release::Periodic,
            (false, Some(jitter)) => Release::Jittered(jitter),
            (true, None) => Release::Sporadic(early),
            (true, Some(jitter)) => Release::Bursts(early, Burst { jitter, distance }),
        });
    };
    if let Some(at) = placing.sporadic.get() {
        let why = "\"after\" tells already what releases it";
        out.refuse(at.place, &drafted.subject, why, "remove \"release\" or \"after\"");
        return None;
    }
    let before = find(&after.value, after.place, (tasks, &drafted.subject, "after"), out)?;
    if before == n {
        out.refuse(after.place, &drafted.subject, "it is released by itself", "name another task");
        return None;
    }
    Some(Release::After(TaskId(before as u16), early))
}

/// The task of this name.
pub(super) fn find(
    name: &str,
    place: Location,
    (tasks, subject, what): (&[Task], &str, &'static str),
    out: &mut Collector,
) -> Option<usize> {
    let found = tasks.iter().position(|task| task.name == name);
    if found.is_none() {
        let complaint = Complaint::UnknownName {
            what,
            nearest: nearest(name, tasks.iter().map(|task| task.name.as_str())),
            name: name.chars().take(40).collect(),
            remedy: "name a task of this file".into(),
        };
        out.add(place, subject, complaint);
    }
    found
}

/// A periodic task has no keys that say when it has arrivals, and what becomes of them.
fn only_of_others(drafted: &DraftTask, release: Release, out: &mut Collector) {
    let placing = &drafted.placing;
    let early = placing.early.get().map(|at| (at.place, "early"));
    let longest = placing.longest_distance.get().map(|at| (at.place, "longest-distance"));
    let raised = placing.raised_by.get().map(|at| (at.place, "raised-by"));
    let least = placing.least_distance.get().map(|at| (at.place, "least-distance"));
    for (place, key) in [early, longest, raised, least].into_iter().flatten() {
        let why = match release.jitter() {
            Some(_) if key.contains("distance") => "period and jitter tell the distances of its jobs".into(),
            _ => format!("{key:?} is about arrivals, and time releases this task"),
        };
        out.refuse(place, &drafted.subject, why, "remove it, or write release = \"sporadic\"");
    }
}

/// A task that time does not release is possible here.
fn fits(draft: &Draft, policy: Policy, n: usize, (tasks, scheduling): (&[Task], &Scheduling), out: &mut Collector) {
    let drafted = &draft.tasks[n];
    let place = &scheduling.places[n];
    let mut refuse = |at: Location, why: &str, remedy: &str| out.refuse(at, &drafted.subject, why, remedy);
    if policy.has_levels() {
        let why = "under policies with levels, time releases all tasks, without jitter";
        return refuse(drafted.place, why, "make it periodic, or choose a policy without levels");
    }
    if scheduling.schedulers == Schedulers::PerServer {
        let why = "where each server has a scheduler of its own, time releases all tasks, without jitter";
        return refuse(drafted.place, why, "make it periodic, or choose schedulers = \"single\"");
    }
    if !draft.changes.is_empty() {
        let why = "in a system that changes while it runs, time releases all tasks, without jitter";
        return refuse(drafted.place, why, "make it periodic, or remove the changes");
    }
    if let Some(at) = drafted.offset.get().filter(|_| !place.release.is_timed()) {
        refuse(at.place, "its first job comes when it is released, not at an offset", "remove the offset");
    }
    if place.overrun == Overrun::Stop {
        let at = drafted.placing.overrun.get().map_or(drafted.place, |at| at.place);
        let remedy = overrun_remedy(scheduling, n);
        let why = match place.release.is_timed() {
            true => "a job that stops goes on in its next period, and with jitter a period may be short",
            false => "a job that stops goes on in its next period, and it has no periods",
        };
        refuse(at, why, &remedy);
    }
    if let Some(at) = drafted.placing.raised_by.get().filter(|_| place.release.predecessor().is_some()) {
        refuse(at.place, "another task's completions release it", "remove \"raised-by\", or \"after\"");
    }
    if let Some(at) = drafted.placing.longest_distance.get() {
        if place.release.predecessor().is_some() {
            refuse(at.place, "another task's completions tell when it is released", "remove \"longest-distance\"");
        } else if at.value < tasks[n].period && place.release.burst().is_none() {
            let why = format!("a longest distance of {} is less than the least, its period", at.value);
            refuse(at.place, &why, "raise it");
        }
    }
    let (Some(before), Some(after)) = (place.release.predecessor(), drafted.placing.after.get()) else { return };
    if scheduling.places[before.index()].release.burst().is_some() {
        let why = format!("arrivals of {:?} come in bursts, and so do its completions", tasks[before.index()].name);
        refuse(after.place, &why, "let a task without jitter release it");
    }
    let (own, first) = (&tasks[n], &tasks[before.index()]);
    if own.period > first.period {
        let why = format!(
            "its period of {} is more than the {} of {:?}, which releases it",
            own.period, first.period, first.name
        );
        refuse(after.place, &format!("{why}: more and more jobs would wait"), "shorten it");
    }
    if own.core != first.core {
        let core = |task: &Task| task.core.map_or("no core".into(), |core| format!("core {core}"));
        let why = format!("it belongs to {}, and {:?}, which releases it, to {}", core(own), first.name, core(first));
        refuse(after.place, &why, "put both on one core or into one cluster, or choose a global policy");
    }
}

/// How arrivals may bunch.
fn bursts(drafted: &DraftTask, (task, release): (&Task, Release), out: &mut Collector) {
    let placing = &drafted.placing;
    let keys = [("jitter", &placing.jitter), ("least-distance", &placing.least_distance)];
    let given = || keys.iter().filter_map(|(key, given)| Some((*key, given.get()?)));
    if let (Some(_), Some((key, at))) = (release.predecessor(), given().next()) {
        let why = format!("{key:?} is about arrivals from outside, and another task's completions release it");
        return out.refuse(at.place, &drafted.subject, why, "remove it");
    }
    let subject = drafted.subject.as_str();
    if let Some(at) = placing.least_distance.get() {
        if at.value > task.period {
            let limit = format!("more than its period of {}", task.period);
            out.out_of_range(at.place, subject, "least-distance", at.value, limit, "lower it");
        } else if release.burst().is_none() {
            out.refuse(
                at.place,
                subject,
                "without jitter a period lies between arrivals",
                "remove it, or give a jitter",
            );
        }
    }
    if let (Some(at), Some(burst)) = (placing.jitter.get(), release.burst()) {
        if placing.overrun.value() == Some(Overrun::Skip) {
            let why = "with overrun = \"skip\" a job that comes early is left out while the one before is in time";
            out.refuse(at.place, subject, why, "remove one of them, or choose overrun = \"continue\"");
        }
        if burst.most(task.period) > MOST_OF_A_BURST {
            let limit = format!("so long that more than {MOST_OF_A_BURST} arrivals may come at once");
            out.out_of_range(at.place, subject, "jitter", at.value, limit, "lower it, or lengthen the period");
        }
    }
}

/// No task is released, by way of others, by itself.
fn circle(draft: &Draft, n: usize, scheduling: &Scheduling, out: &mut Collector) {
    let before = |n: usize| scheduling.places.get(n).and_then(|place| place.release.predecessor()).map(TaskId::index);
    let way = std::iter::successors(before(n), |at| before(*at)).take(scheduling.places.len());
    if way.into_iter().any(|at| at == n) {
        let at = draft.tasks[n].placing.after.get().map_or(draft.tasks[n].place, |at| at.place);
        let why = "it is released by a task that it releases itself, so that none ever begins";
        out.refuse(at, &draft.tasks[n].subject, why, "let a periodic task begin the chain");
    }
}

/// Checks the chains.
pub(super) fn chains(draft: &Draft, system: &System, out: &mut Collector) -> Vec<Chain> {
    let mut made: Vec<Chain> = Vec::new();
    for drafted in &draft.chains {
        let (Some(name), Some(names), Some(deadline)) =
            (drafted.name.get(), drafted.tasks.get(), drafted.deadline.get())
        else {
            continue;
        };
        let subject = drafted.subject.as_str();
        if made.iter().any(|chain| chain.name == name.value) {
            out.refuse(name.place, subject, "another chain has the same name", "choose another one");
        }
        if deadline.value.is_zero() {
            out.out_of_range(deadline.place, subject, "deadline", deadline.value, "no time at all", "raise it");
        }
        if !(2..=MOST_TASKS_OF_A_CHAIN).contains(&names.value.len()) {
            let why = format!("it has {} tasks", names.value.len());
            out.refuse(names.place, subject, why, format!("name from 2 to {MOST_TASKS_OF_A_CHAIN} tasks"));
            continue;
        }
        let tasks: Option<Vec<usize>> = names
            .value
            .iter()
            .map(|name| find(name, names.place, (&system.tasks, subject, "task of a chain"), out))
            .collect();
        let Some(tasks) = tasks else { continue };
        links(&tasks, system, (names, subject), out);
        made.push(Chain { name: name.value.clone(), tasks, deadline: deadline.value, line: drafted.place.line });
    }
    made
}

/// The second task's messages are those of the first one's jobs, and of nobody else.
fn by_message(
    (before, n): (usize, usize),
    system: &System,
    (names, subject): (&At<Vec<String>>, &str),
    out: &mut Collector,
) {
    let (first, own) = (&system.tasks[before], &system.tasks[n]);
    let sender = system.scheduling.places[n].raised_by.map(Body::Component);
    if sender.as_ref() != Some(&first.body) {
        let why = format!("the messages that release {:?} are not sent by the component of {:?}", own.name, first.name);
        out.refuse(names.place, subject, why, "name the task that sends them before it");
    } else if system.tasks.iter().filter(|task| task.body == first.body).count() > 1 {
        let why = format!("the component of {:?} has other tasks, which may send messages as well", first.name);
        out.refuse(names.place, subject, why, "give each a component of its own");
    } else if own.period > first.period {
        let why =
            format!("its period of {} is more than the {} of {:?}, which sends", own.period, first.period, first.name);
        out.refuse(
            names.place,
            subject,
            format!("{:?}: {why}: more and more messages would wait", own.name),
            "shorten it",
        );
    }
}

/// Each task of a chain is released by the one before, and each of its jobs by one of that one's.
fn links(tasks: &[usize], system: &System, (names, subject): (&At<Vec<String>>, &str), out: &mut Collector) {
    let place = |n: usize| system.scheduling.places.get(n).copied().unwrap_or_default();
    let name = |n: usize| &system.tasks[n].name;
    for pair in tasks.windows(2) {
        let release = place(pair[1]).release;
        if place(pair[1]).message.is_some() {
            by_message((pair[0], pair[1]), system, (names, subject), out);
        } else if system.is_told(pair[0], pair[1]) {
            continue;
        } else if release.predecessor().map(TaskId::index) != Some(pair[0]) {
            let why = format!("{:?} is not released by {:?}, and no channel leads there", name(pair[1]), name(pair[0]));
            let remedy =
                format!("give {:?} the line after = {:?}, or make a [[channel]]", name(pair[1]), name(pair[0]));
            out.refuse(names.place, subject, why, remedy);
        }
        if release.early() == Some(EarlyArrival::Drop) {
            let why =
                format!("{:?} drops early arrivals, so that some of its jobs have no predecessor's", name(pair[1]));
            out.refuse(names.place, subject, why, "let it delay them");
        }
    }
    for &n in tasks.iter().filter(|n| place(**n).release.burst().is_some()) {
        let why = format!("arrivals of {:?} come in bursts, and the next task has a period between two jobs", name(n));
        out.refuse(names.place, subject, why, "remove its jitter");
    }
    for &n in tasks.iter().filter(|n| place(**n).overrun != Overrun::Continue) {
        let why = format!("{:?} may have jobs that never end, so that no job of the next task follows", name(n));
        out.refuse(names.place, subject, why, overrun_remedy(&system.scheduling, n));
    }
}
