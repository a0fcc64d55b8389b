//! The rules for changes of the running system.

use super::server;
use crate::draft::{At, Draft, DraftChange, DraftExecution, Given};
use crate::problem::{nearest, Collector, Complaint};
use crate::{
    shortest_period, Action, Change, Part, Policy, Scheduling, Task, Values, DEFAULT_SHIFT, MAX_CHANGES, MAX_PRIORITY,
    SHORTEST_JOB, SHORTEST_QUANTUM,
};
use tactus_time::{Duration, Level};

/// Whether the first change of what has this name adds it.
pub(super) fn begins_absent(draft: &Draft, name: &str) -> bool {
    let is = |given: &Given<String>| given.get().is_some_and(|at| at.value == name);
    let of = |change: &&DraftChange| [&change.add, &change.remove, &change.task, &change.server].into_iter().any(is);
    draft.changes.iter().find(of).is_some_and(|change| is(&change.add))
}

/// What changes are held against.
struct Whole<'a> {
    tasks: &'a [Task],
    scheduling: &'a Scheduling,
    policy: Policy,
    duration: Duration,
    shift: u8,
}

/// Checks all changes and makes them; those that something is wrong with are left out.
pub(super) fn check(
    draft: &Draft,
    policy: Policy,
    duration: Duration,
    tasks: &[Task],
    scheduling: &Scheduling,
    out: &mut Collector,
) -> Vec<Change> {
    if draft.changes.is_empty() {
        return Vec::new();
    }
    if let Some(extra) = draft.changes.get(MAX_CHANGES) {
        let limit = format!("more than {MAX_CHANGES}");
        out.out_of_range(extra.place, "", "the number of changes", draft.changes.len(), limit, "leave some out");
        return Vec::new();
    }
    if let Given::Is(root) = &draft.platform.root {
        let why = "changes are made by the built-in root scheduler, but the system has one of its own";
        out.refuse(root.place, "[system]", why, "remove the changes, or root");
        return Vec::new();
    }
    let shift = draft.shift.value().unwrap_or(DEFAULT_SHIFT);
    let whole = Whole { tasks, scheduling, policy, duration, shift };
    let mut changes: Vec<Change> = Vec::new();
    for change in &draft.changes {
        let made = one(change, &whole, &changes, out);
        changes.extend(made);
    }
    changes
}

fn one(draft: &DraftChange, whole: &Whole, before: &[Change], out: &mut Collector) -> Option<Change> {
    let at = draft.at.get()?;
    if at.value >= whole.duration {
        let limit = format!("not before the end of the run at {}", whole.duration);
        out.out_of_range(at.place, &draft.subject, "at", at.value, limit, "ask for it earlier");
        return None;
    }
    if let Some(last) = before.last().filter(|last| last.at > at.value) {
        let limit = format!("before the {} of the change above", last.at);
        out.out_of_range(at.place, &draft.subject, "at", at.value, limit, "write changes in the order of their times");
        return None;
    }
    let given = [(&draft.add, "add"), (&draft.remove, "remove"), (&draft.task, "task"), (&draft.server, "server")];
    if given.iter().any(|(given, _)| matches!(given, Given::Broken)) {
        return None;
    }
    let named: Vec<(&At<String>, &str)> = given.iter().filter_map(|(given, key)| Some((given.get()?, *key))).collect();
    let [(name, key)] = named[..] else {
        let why = match named.is_empty() {
            true => "it says neither add nor remove, nor whose values change".to_string(),
            false => format!("it says {} at once", named.iter().map(|(_, key)| *key).collect::<Vec<_>>().join(" and ")),
        };
        out.refuse(draft.place, &draft.subject, why, "write one of add, remove, task and server");
        return None;
    };
    let part = find(name, key, whole, &draft.subject, out)?;
    let there =
        before.iter().filter(|change| change.part == part).fold(key != "add", |there, change| match change.action {
            Action::Add => true,
            Action::Remove => false,
            Action::Alter(_) => there,
        });
    if there == (key == "add") {
        let why = if there { "is there already by then" } else { "is not there by then" };
        let remedy = "mend the order of the changes";
        out.refuse(name.place, &draft.subject, format!("{:?} {why}", name.value), remedy);
        return None;
    }
    let values = values(draft, part, key, whole, out)?;
    let action = match key {
        "add" => Action::Add,
        "remove" => Action::Remove,
        _ => Action::Alter(values),
    };
    Some(Change { at: at.value, part, action, line: draft.place.line })
}

fn find(name: &At<String>, key: &str, whole: &Whole, subject: &str, out: &mut Collector) -> Option<Part> {
    let task = whole.tasks.iter().position(|task| task.name == name.value).map(Part::Task);
    let server = whole.scheduling.servers.iter().position(|server| server.name == name.value).map(Part::Server);
    let (what, found) = match key {
        "task" => ("task", task),
        "server" => ("server", server),
        _ if task.is_some() && server.is_some() => {
            let why = format!("{:?} is the name of a task and of a server", name.value);
            out.refuse(name.place, subject, why, "give each its own name");
            return None;
        }
        _ => ("task or server", task.or(server)),
    };
    if found.is_none() {
        let tasks = whole.tasks.iter().map(|task| task.name.as_str()).filter(|_| key != "server");
        let servers = whole.scheduling.servers.iter().map(|server| server.name.as_str()).filter(|_| key != "task");
        let complaint = Complaint::UnknownName {
            what,
            nearest: nearest(&name.value, tasks.chain(servers)),
            name: name.value.chars().take(40).collect(),
            remedy: "whatever is added stands in the file, too".into(),
        };
        out.add(name.place, subject, complaint);
    }
    found
}

/// The new values, where there have to be some; none elsewhere.
fn values(draft: &DraftChange, part: Part, key: &str, whole: &Whole, out: &mut Collector) -> Option<Values> {
    let alters = matches!(key, "task" | "server");
    if !alters && !draft.execution.is_absent() {
        let place = draft.execution.get().map_or(draft.place, |at| at.place);
        let why = "execution is given, but what is added or removed keeps its values";
        out.refuse(place, &draft.subject, why, "remove it");
        return None;
    }
    let wrong = |key: &str, part: Part| match (key, part) {
        _ if !alters => Some("what is added or removed keeps its values"),
        ("budget", Part::Task(_)) => Some("a task has no budget"),
        ("deadline", Part::Task(_)) if matches!(whole.policy, Policy::Mc2 { .. }) => {
            Some("under MC² a deadline is the period")
        }
        ("execution" | "deadline", Part::Server(_)) => Some("a server has neither execution nor deadline"),
        ("priority", part) if !has_priority(part, whole) => Some("it is not ordered by priority"),
        _ => None,
    };
    let (plain, levels) = times(draft, part, whole, out)?;
    let mut sound = true;
    let mut some = levels != [None; 4];
    let lengths = [
        (&plain, "execution", SHORTEST_JOB),
        (&draft.budget, "budget", SHORTEST_QUANTUM),
        (&draft.period, "period", shortest_period(whole.shift)),
        (&draft.deadline, "deadline", SHORTEST_JOB),
    ];
    for (given, key, least) in lengths {
        sound &= !matches!(given, Given::Broken);
        let Some(at) = given.get() else { continue };
        some = true;
        if let Some(why) = wrong(key, part) {
            out.refuse(at.place, &draft.subject, format!("{key} is given, but {why}"), "remove it");
            sound = false;
        } else if at.value < least {
            let limit = format!("less than the shortest, {least}");
            out.out_of_range(at.place, &draft.subject, key, at.value, limit, "lengthen it");
            sound = false;
        }
    }
    sound &= !matches!(draft.priority, Given::Broken);
    if let Some(at) = draft.priority.get() {
        some = true;
        if let Some(why) = wrong("priority", part) {
            out.refuse(at.place, &draft.subject, format!("priority is given, but {why}"), "remove it");
            sound = false;
        } else if at.value > u64::from(MAX_PRIORITY) {
            let limit = format!("more than {MAX_PRIORITY}");
            out.out_of_range(at.place, &draft.subject, "priority", at.value, limit, "lower it");
            sound = false;
        }
    }
    if alters && !some && sound {
        let remedy = match key {
            "task" => "write execution = \"2 ms\", period, deadline or priority beside it",
            _ => "write budget = \"2 ms\", period or priority beside it",
        };
        out.refuse(draft.place, &draft.subject, "it gives no new value", remedy);
        sound = false;
    }
    let time = if key == "task" { plain.value() } else { draft.budget.value() };
    let priority = draft.priority.value().and_then(|priority| u32::try_from(priority).ok());
    sound.then_some(Values { time, levels, period: draft.period.value(), deadline: draft.deadline.value(), priority })
}

/// The execution time, and those at single levels, which must be some that the task has; nothing if they are broken.
fn times(
    draft: &DraftChange,
    part: Part,
    whole: &Whole,
    out: &mut Collector,
) -> Option<(Given<Duration>, [Option<Duration>; 4])> {
    let (levels, place) = match &draft.execution {
        Given::Absent => return Some((Given::Absent, [None; 4])),
        Given::Broken => return None,
        Given::Is(at) => match &at.value {
            DraftExecution::Plain(time) => return Some((Given::is(*time, at.place), [None; 4])),
            DraftExecution::Levels(levels) => (levels, at.place),
        },
    };
    let has = match part {
        Part::Task(n) if whole.policy.has_levels() => whole.tasks[n].execution,
        _ => {
            let why = "times for levels are given, but what is changed has none";
            out.refuse(place, &draft.subject, why, "write one time");
            return None;
        }
    };
    let mut sound = true;
    for level in Level::ALL {
        let what = format!("execution at level {level}");
        match &levels[level.index()] {
            Given::Is(time) if has[level.index()].is_none() => {
                out.refuse(time.place, &draft.subject, format!("{what} is given, but the task has none"), "remove it");
                sound = false;
            }
            Given::Is(time) if time.value < SHORTEST_JOB => {
                let limit = format!("less than the shortest, {SHORTEST_JOB}");
                out.out_of_range(time.place, &draft.subject, what, time.value, limit, "lengthen it");
                sound = false;
            }
            Given::Broken => sound = false,
            Given::Is(_) | Given::Absent => {}
        }
    }
    sound.then(|| (Given::Absent, levels.clone().map(|time| time.value())))
}

fn has_priority(part: Part, whole: &Whole) -> bool {
    let root = server::of_policy(&whole.policy).map(|(_, order)| order);
    let around = match part {
        Part::Task(n) => whole.scheduling.places[n].server,
        Part::Server(n) => whole.scheduling.servers[n].parent,
    };
    let order = around.map(|server| whole.scheduling.servers[server].order).or(root);
    order.is_some_and(crate::TaskOrder::has_priorities)
}
