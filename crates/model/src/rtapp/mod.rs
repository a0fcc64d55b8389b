//! rt-app files (github.com/scheduler-tools/rt-app): from JSON to a draft, as far as the meaning can be kept.
//!
//! A thread of rt-app is a cycle of events. Where the cycle runs and waits so that releases come at a fixed distance,
//! it is a periodic task; where threads wait for each other, each time round is a job with steps; everything else is refused by name
//! and line. What has no bearing on the schedule (logs,
//! calibration) is ignored with a note. `docs/rt-app.md` tells the whole mapping.

mod cycle;
mod events;
mod fields;
mod json;
mod policy;
mod thread;
mod threads;

use crate::draft::{Draft, Given};
use crate::problem::{Collector, Complaint, Location};
use crate::{LONGEST, MAX_TASKS};
use events::Events;
use fields::{Fields, Reader, Timer};
use json::{Member, Node, Value};
use policy::Class;
use std::collections::{HashMap, HashSet};
use tactus_time::{Duration, Instant};
use thread::Thread;

const TOP: [&str; 3] = ["tasks", "global", "resources"];
const GLOBAL: [&str; 15] = [
    "duration",
    "default_policy",
    "calibration",
    "pi_enabled",
    "lock_pages",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "gnuplot",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
    "frag",
    "comment",
];
/// How long a file without an end runs.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// What `global` says that bears on the schedule.
struct Global {
    /// Seconds, if there is an end.
    duration: Given<Duration>,
    default_class: Class,
}

/// Reads the text as far as it can be read; nothing if it is not JSON or has no tasks.
pub(crate) fn read(text: &str, out: &mut Collector) -> Option<Draft> {
    let root = match json::parse(text) {
        Ok(root) => root,
        Err(error) => {
            out.add(error.place, "", Complaint::Syntax { reason: format!("this is not JSON: {}", error.reason) });
            return None;
        }
    };
    // What is no periodic task may still be threads that go their way, of which nothing is promised.
    let mut other = Collector::new(out.file());
    match read_as(&root, None, out) {
        Err(true) => {
            let draft = read_as(&root, Some(true), &mut other).ok().filter(|_| other.is_empty())?;
            out.forgive();
            Some(draft)
        }
        read => read.ok(),
    }
}

/// Reads the file; `waits` says whether it is taken as one of threads that wait for each other, where the file does not. Where nothing
/// came of it: whether that is because a thread is no periodic task.
fn read_as(root: &Value, waits: Option<bool>, out: &mut Collector) -> Result<Draft, bool> {
    let mut reader = Reader {
        out,
        notes: Vec::new(),
        thread: String::new(),
        timers: Vec::new(),
        waits_for_others: false,
        not_periodic: false,
        events: Events::default(),
    };
    let draft = read_with(root, waits, &mut reader);
    draft.ok_or(reader.not_periodic)
}

fn read_with(root: &Value, waits: Option<bool>, reader: &mut Reader<'_>) -> Option<Draft> {
    let top = Fields::open(root, "".into(), reader)?;
    top.check_known(&TOP, reader);
    let global = read_global(&top, reader);
    if top.get("resources").is_some() {
        reader.note("\"resources\" is ignored, as rt-app itself does: nothing in it bears on the schedule");
    }
    let Some(tasks) = top.get("tasks") else {
        let complaint = Complaint::MissingKey { key: "tasks", example: "\"tasks\" : { … }".into() };
        reader.out.add(root.place, "", complaint);
        return None;
    };
    let tasks = Fields::open(tasks, "\"tasks\"".into(), reader)?;
    if let Some(first) = tasks.members().get(MAX_TASKS) {
        let limit = format!("more than {MAX_TASKS}");
        let n = tasks.members().len();
        reader.out.out_of_range(first.place, "", "the number of tasks", n, limit, "leave some out");
        return None;
    }
    reader.waits_for_others = waits.unwrap_or_else(|| tasks.members().iter().any(waits_for_others));
    let mut threads = Vec::new();
    for member in tasks.members() {
        threads.extend(thread::read(member, global.default_class, reader));
    }
    if tasks.members().is_empty() {
        reader.out.refuse(tasks.place, "\"tasks\"", "there is no task in it", "describe at least one");
    }
    check_timers(reader);
    // What follows compares threads with each other; with some of them unread it would complain beside the point.
    if !reader.out.is_empty() {
        return None;
    }
    draft(&threads, &global, tasks.place, reader)
}

/// Whether a thread waits for others, or they for it; or sleeps beside a timer. What there is no test for then, the whole file has none.
fn waits_for_others(thread: &Member) -> bool {
    let members = |value: &Option<Value>| -> Vec<Member> {
        match value.as_ref().map(|value| &value.node) {
            Some(Node::Object(members)) => members.clone(),
            _ => Vec::new(),
        }
    };
    let own = members(&thread.value);
    let phases = own.iter().filter(|member| member.key == "phases").flat_map(|phases| members(&phases.value));
    let inner: Vec<Member> = phases.flat_map(|phase| members(&phase.value)).collect();
    let all = || own.iter().chain(&inner);
    let keys = || all().map(|member| member.key.as_str());
    // A sleep of 0 µs is none.
    let nothing = |member: &&Member| {
        member.value.as_ref().is_some_and(|value| matches!(&value.node, Node::Number(number) if number == "0"))
    };
    let sleeps = all().filter(|member| !nothing(member)).any(|member| cycle::is_sleep(&member.key));
    keys().any(cycle::concerns_others) || (keys().any(cycle::is_timer) && sleeps)
}

fn read_global(top: &Fields<'_>, reader: &mut Reader<'_>) -> Global {
    let mut global = Global { duration: Given::Absent, default_class: Class::BestEffort };
    let Some(value) = top.get("global") else { return global };
    let Some(fields) = Fields::open(value, "\"global\"".into(), reader) else { return global };
    fields.check_known(&GLOBAL, reader);
    global.duration = read_duration(&fields, reader);
    if let Given::Is(class) = policy::read(&fields, "default_policy", reader) {
        global.default_class = class.value;
    }
    let mut ignored: Vec<&str> = fields.members().iter().map(|member| member.key.as_str()).collect();
    ignored.retain(|key| GLOBAL[2..].contains(key));
    if !ignored.is_empty() {
        reader.note(format!("\"global\": ignored, since it has no bearing on the schedule: {}", ignored.join(", ")));
    }
    global
}

/// Seconds; absent, 0 and −1 mean that there is no end.
fn read_duration(global: &Fields<'_>, reader: &mut Reader<'_>) -> Given<Duration> {
    match global.integer("duration", "a whole number of seconds, or -1 for no end", reader) {
        Given::Is(at) if at.value == 0 || at.value == -1 => Given::Absent,
        Given::Is(at) => match u64::try_from(at.value).ok().filter(|n| *n <= LONGEST.as_nanos() / 1_000_000_000) {
            Some(seconds) => Given::is(Duration::from_secs(seconds), at.place),
            None => {
                let limit = "not between 1 and 86400 seconds";
                reader.out.out_of_range(at.place, "\"global\"", "duration", at.value, limit, "choose a number of them");
                Given::Broken
            }
        },
        Given::Absent => Given::Absent,
        Given::Broken => Given::Broken,
    }
}

/// Puts the threads together to a system.
fn draft(threads: &[Thread], global: &Global, place: Location, reader: &mut Reader<'_>) -> Option<Draft> {
    let cores = policy::cores(threads, reader)?;
    let duration = match &global.duration {
        Given::Is(at) => at.value,
        _ => end_of(threads, reader),
    };
    check_ends(threads, duration, reader);
    let chosen = match reader.waits_for_others {
        true => policy::choose_for_threads(threads, reader)?,
        false => policy::choose(threads, cores, reader)?,
    };
    let mut draft = Draft {
        place,
        cores: Given::is(cores as u64, place),
        duration: Given::is(duration, place),
        policy: Given::is(chosen.policy, place),
        quantum: chosen.quantum.map_or(Given::Absent, |quantum| Given::is(quantum, place)),
        ..Draft::default()
    };
    if reader.waits_for_others {
        reader.note("threads of this file wait for each other: nothing is promised");
        draft.events = std::mem::take(&mut reader.events).into_rules();
    }
    for index in chosen.order {
        let thread = &threads[index];
        let bound = chosen.bound[index];
        for instance in 0..thread.instances.value {
            // One more than fit is enough for the complaint about it.
            if draft.tasks.len() > MAX_TASKS {
                break;
            }
            let priority = chosen.priorities.get(index).copied();
            draft.tasks.push(thread.task(instance, (chosen.levels[index], bound, priority), duration));
        }
    }
    if draft.tasks.is_empty() {
        reader.out.refuse(place, "\"tasks\"", "no task has an instance", "give at least one an instance");
    }
    draft.notes = std::mem::take(&mut reader.notes);
    Some(draft)
}

/// When the last thread has done its loops, or the default if one never has.
fn end_of(threads: &[Thread], reader: &mut Reader<'_>) -> Duration {
    // Nobody knows when one has done its loops that waits for others.
    let ends: Option<Vec<Instant>> =
        threads.iter().filter(|thread| !thread.releases_itself()).map(Thread::end).collect();
    let last = ends.and_then(|ends| ends.into_iter().max()).map(|end| end.since(Instant::ZERO));
    match last {
        Some(end) if end <= LONGEST => {
            reader.note(format!("the file names no duration: the run ends with the last loop, at {end}"));
            end
        }
        _ => {
            reader.note(format!("the file names no duration: the run ends after {DEFAULT_DURATION}"));
            DEFAULT_DURATION
        }
    }
}

/// A task runs as long as the system: a thread that ends earlier is something else.
fn check_ends(threads: &[Thread], duration: Duration, reader: &mut Reader<'_>) {
    for thread in threads {
        let Some(end) = thread.end().map(|end| end.since(Instant::ZERO)) else { continue };
        let place = thread.cycle.loops.get().map_or(thread.place, |at| at.place);
        if end < duration {
            let limit = format!("before the run does at {duration}");
            let remedy = "every task runs to the end: set \"loop\" to -1, or shorten the duration";
            reader.out.out_of_range(place, &thread.subject, "the end of its last loop", end, limit, remedy);
        }
    }
}

/// Threads that wait on the same timer move each other's releases. Each thread is told of once for each such timer.
fn check_timers(reader: &mut Reader<'_>) {
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut told: HashSet<(&str, &str)> = HashSet::new();
    for Timer { thread, name } in &reader.timers {
        let other = *first.entry(&name.value).or_insert(thread);
        if other != thread && told.insert((thread, &name.value)) {
            let why = format!("it waits on the timer {:?} of {other}", name.value);
            reader.out.refuse(name.place, thread, why, "give the timer a name of its own, or \"unique\"");
        }
    }
}
