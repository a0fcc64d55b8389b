//! What a thread of rt-app does over and over, read as the releases and times of a periodic task.

use super::fields::{describe, microseconds, Fields, Reader, Timer, EXPECTED_TIME};
use super::json::{Member, Node};
use super::thread::read_loop;
use crate::draft::{At, Given};
use crate::problem::{Complaint, Location};
use crate::{Program, MAX_LIST, SHORTEST_JOB};
use tactus_time::Duration;

/// The name that gives each thread a timer of its own begins with this.
pub(super) const UNIQUE: &str = "unique";

/// rt-app takes a key that begins with one of these as an event of that kind; the first that fits counts.
const EVENTS: [&str; 20] = [
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer", "suspend", "resume",
    "memrun", "mem", "iorun", "yield", "barrier", "fork", "sem_post", "sem_wait",
];

/// The kind of event that a key stands for.
fn kind(key: &str) -> Option<&'static str> {
    EVENTS.into_iter().find(|event| key.starts_with(event))
}

/// Whether the event waits for a timer, or for time to pass.
pub(super) fn is_timer(key: &str) -> bool {
    kind(key) == Some("timer")
}

pub(super) fn is_sleep(key: &str) -> bool {
    kind(key) == Some("sleep")
}

pub(super) fn is_event(key: &str) -> bool {
    kind(key).is_some()
}

/// Kinds by which threads wait for each other.
const OTHERS: [&str; 11] =
    ["lock", "unlock", "wait", "signal", "broad", "sync", "suspend", "resume", "barrier", "sem_post", "sem_wait"];

/// Whether a thread that has such an event waits for others, or they for it.
pub(super) fn concerns_others(key: &str) -> bool {
    kind(key).is_some_and(|kind| OTHERS.contains(&kind))
}

/// One event.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Run(Duration),
    Sleep(Duration),
    Timer { name: String, period: Duration, relative: bool },
    Lock(String),
    Unlock(String),
    Wait { queue: String, mutex: String },
    Sync { queue: String, mutex: String },
    Signal(String),
    Broadcast(String),
    Suspend(Option<String>),
    Resume(String),
    Barrier(String),
    Post(String),
    Take(String),
}

/// A sequence of events and how often it comes before the next phase.
pub(super) struct Phase {
    pub place: Location,
    pub subject: String,
    /// Nothing inside for no end.
    pub loops: Given<Option<u64>>,
    pub events: Vec<At<Event>>,
}

/// A thread's cycle as a periodic task.
pub(super) struct Cycle {
    /// From the thread's start to its first release.
    pub offset: Duration,
    pub period: At<Duration>,
    /// What the jobs take, in order, over and over.
    pub jobs: Vec<Duration>,
    /// Where the longest job runs.
    pub run: Location,
    /// How many jobs there are, if there is an end.
    pub loops: Given<u64>,
    /// What jobs do in the middle of their work, where threads wait for each other, and whether the thread releases itself.
    pub program: Option<(Program, bool)>,
}

/// Reads the events of a phase, and reports keys that are neither events nor `known`.
pub(super) fn read_phase(fields: &Fields<'_>, known: &[&'static str], reader: &mut Reader<'_>) -> Option<Phase> {
    let mut events = Vec::new();
    let mut sound = true;
    for member in fields.members() {
        match kind(&member.key) {
            Some(kind) => match read_event(kind, member, fields, reader) {
                Some(event) => events.push(At { value: event, place: member.place }),
                None => sound = false,
            },
            None if known.contains(&member.key.as_str()) => {}
            None if matches!(member.key.as_str(), "exec" | "resources") => {
                let why = format!("{:?} belongs to the grammar of old versions of rt-app", member.key);
                reader.out.refuse(member.place, &fields.subject, why, "write a \"run\" and a \"timer\"");
                sound = false;
            }
            None => {
                let all: Vec<&'static str> = known.iter().copied().chain(["run", "sleep", "timer"]).collect();
                fields.unknown(member, &all, reader);
            }
        }
    }
    let loops = read_loop(fields, reader)?;
    sound.then(|| Phase { place: fields.place, subject: fields.subject.clone(), loops, events })
}

fn read_event(kind: &'static str, member: &Member, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Event> {
    let (why, remedy) = match kind {
        "run" | "runtime" | "sleep" => {
            let time = member.value.as_ref().and_then(|value| microseconds(&value.node));
            if time.is_none() {
                let (what, found) = (member.key.chars().take(40).collect(), describe(member.value.as_ref()));
                let complaint = Complaint::Malformed { what, found, expected: EXPECTED_TIME.into() };
                reader.out.add(member.place, &fields.subject, complaint);
            }
            return time.map(if kind == "sleep" { Event::Sleep } else { Event::Run });
        }
        "timer" => return read_timer(member, fields, reader),
        "mem" | "memrun" => ("a job's memory traffic is not modelled", "write a \"run\" of the time that it takes"),
        "iorun" => ("there is no device to write to", "write a \"run\" of the time that it takes"),
        "yield" => ("a job keeps its core until it is done or preempted", "leave it out"),
        "fork" => ("all tasks are there from the start", "give the forked task an instance and a delay instead"),
        _ => return read_other(kind, member, fields, reader),
    };
    let key: String = member.key.chars().take(40).collect();
    reader.out.refuse(member.place, &fields.subject, format!("event {key:?} is not supported: {why}"), remedy);
    None
}

/// An event by which threads wait for each other.
fn read_other(kind: &'static str, member: &Member, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Event> {
    let what: String = member.key.chars().take(40).collect();
    let mut malformed = |expected: &str| {
        let (what, found) = (what.clone(), describe(member.value.as_ref()));
        reader.out.add(member.place, &fields.subject, Complaint::Malformed { what, found, expected: expected.into() });
        None
    };
    let name = match member.value.as_ref().map(|value| &value.node) {
        Some(Node::Text(name)) => Some(name.clone()),
        None if kind == "suspend" => return Some(Event::Suspend(None)),
        _ => None,
    };
    if matches!(kind, "wait" | "sync") {
        let Some(value @ super::json::Value { node: Node::Object(_), .. }) = &member.value else {
            return malformed("an object like { \"ref\" : \"queue\", \"mutex\" : \"mutex\" }");
        };
        let pair = Fields::open(value, format!("{}: {what:?}", fields.subject), reader)?;
        pair.check_known(&["ref", "mutex"], reader);
        let (queue, mutex) = (pair.text("ref", reader), pair.text("mutex", reader));
        for (key, given) in [("ref", &queue), ("mutex", &mutex)] {
            if given.is_absent() {
                let complaint = Complaint::MissingKey { key, example: format!("{key:?} : \"{key}\"") };
                reader.out.add(pair.place, &pair.subject, complaint);
            }
        }
        let (queue, mutex) = (queue.get()?.value.clone(), mutex.get()?.value.clone());
        return Some(if kind == "wait" { Event::Wait { queue, mutex } } else { Event::Sync { queue, mutex } });
    }
    let Some(name) = name else { return malformed("a name in quotes") };
    Some(match kind {
        "lock" => Event::Lock(name),
        "unlock" => Event::Unlock(name),
        "signal" => Event::Signal(name),
        "broad" => Event::Broadcast(name),
        "suspend" => Event::Suspend(Some(name)),
        "resume" => Event::Resume(name),
        "barrier" => Event::Barrier(name),
        "sem_post" => Event::Post(name),
        _ => Event::Take(name),
    })
}

fn read_timer(member: &Member, fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Event> {
    let subject = format!("{}: {:?}", fields.subject, member.key.chars().take(40).collect::<String>());
    let Some(value @ super::json::Value { node: Node::Object(_), .. }) = &member.value else {
        let complaint = Complaint::Malformed {
            what: member.key.chars().take(40).collect(),
            found: describe(member.value.as_ref()),
            expected: "an object like { \"ref\" : \"unique\", \"period\" : 10000 }".into(),
        };
        reader.out.add(member.place, &fields.subject, complaint);
        return None;
    };
    let timer = Fields::open(value, subject, reader)?;
    timer.check_known(&["ref", "period", "mode"], reader);
    let period = timer.microseconds("period", reader);
    if period.is_absent() {
        let complaint = Complaint::MissingKey { key: "period", example: "\"period\" : 10000".into() };
        reader.out.add(timer.place, &timer.subject, complaint);
    }
    let mut relative = true;
    match timer.text("mode", reader) {
        Given::Broken => return None,
        Given::Is(mode) if mode.value == "absolute" => relative = false,
        Given::Is(mode) if mode.value != "relative" => {
            let found = format!("{:?}", mode.value.chars().take(40).collect::<String>());
            let expected = "\"relative\" or \"absolute\"".into();
            reader.out.add(mode.place, &timer.subject, Complaint::Malformed { what: "mode".into(), found, expected });
            return None;
        }
        _ => reader.note("relative timers are taken as absolute: after an overrun, releases stay at whole periods"),
    }
    let name = match timer.text("ref", reader) {
        Given::Broken => return None,
        Given::Absent => "unknown".to_string(),
        Given::Is(name) => name.value,
    };
    let period = period.value();
    // Waits of 0 µs are ignored, and each thread has a timer of its own where it is called "unique".
    if period.is_none_or(|period| !period.is_zero()) && !name.starts_with(UNIQUE) {
        let (thread, name) = (reader.thread.clone(), At { value: name.clone(), place: member.place });
        reader.timers.push(Timer { thread, name });
    }
    period.map(|period| Event::Timer { name, period, relative })
}

/// Reads the phases of a thread as a periodic task; nothing if they are none.
pub(super) fn of(phases: &[Phase], thread: &Fields<'_>, instances: u64, reader: &mut Reader<'_>) -> Option<Cycle> {
    let (events, loops) = flatten(phases, thread, reader)?;
    let subject = thread.subject.as_str();
    let is_wait = |event: &At<Event>| !matches!(event.value, Event::Run(_));
    let waits = events.iter().filter(|event| is_wait(event)).count();
    let events: Vec<At<Event>> = events.into_iter().filter(|event| !is_nothing(&event.value)).collect();
    let left = events.iter().filter(|event| is_wait(event)).count();
    if left < waits {
        reader.note("waits of 0 µs are ignored");
    }
    if events.len() == left {
        reader.out.refuse(thread.place, subject, "it never runs", "add a \"run\"");
        return None;
    }
    let timer = events.iter().position(|event| matches!(event.value, Event::Timer { .. }));
    let mut cycle = match timer {
        Some(first) => timed(&events, first, instances, subject, reader)?,
        None if left > 0 => sleeping(&events, subject, reader)?,
        None => {
            reader.not_periodic = true;
            let why = "it runs without ever waiting, so nothing releases its jobs";
            reader.out.refuse(thread.place, subject, why, "add a \"timer\" with a period after the run");
            return None;
        }
    };
    let per_cycle = cycle.jobs.len() as u64;
    cycle.loops = loops.map(|loops| loops.saturating_mul(per_cycle));
    if cycle.jobs.iter().all(|job| *job == cycle.jobs[0]) {
        cycle.jobs.truncate(1);
    }
    if cycle.jobs.iter().any(|job| job.is_zero()) {
        reader.note(format!("{subject} has releases with nothing to run: they are taken as {SHORTEST_JOB}"));
        for job in cycle.jobs.iter_mut() {
            *job = (*job).max(SHORTEST_JOB);
        }
    }
    Some(cycle)
}

fn is_nothing(event: &Event) -> bool {
    match event {
        Event::Run(time) | Event::Sleep(time) | Event::Timer { period: time, .. } => time.is_zero(),
        _ => false,
    }
}

/// One cycle of the whole thread, and how often it comes, if there is an end.
fn flatten(phases: &[Phase], thread: &Fields<'_>, reader: &mut Reader<'_>) -> Option<(Vec<At<Event>>, Given<u64>)> {
    // Without "phases", the thread's own "loop" has been read as that of its only phase.
    let whole =
        if thread.get("phases").is_some() { read_loop(thread, reader)? } else { Given::is(Some(1), thread.place) };
    if let [only] = phases {
        let once = thread.get("phases").is_some();
        let loops = match (&whole, &only.loops) {
            (Given::Is(At { value: Some(n), .. }), Given::Is(At { value: Some(m), place })) => {
                Given::is(n.saturating_mul(*m), *place)
            }
            (Given::Is(At { value: Some(n), place }), Given::Absent) if once => Given::is(*n, *place),
            _ => Given::Absent,
        };
        return Some((only.events.clone(), loops));
    }
    let mut events = Vec::new();
    for phase in phases {
        let times = match &phase.loops {
            Given::Is(At { value: Some(times), .. }) => *times,
            Given::Is(At { value: None, place }) => {
                let why = "it loops for ever, so the other phases do not come round";
                reader.out.refuse(*place, &phase.subject, why, "write how many times, or make it the only phase");
                return None;
            }
            _ => 1,
        };
        let length = times.saturating_mul(phase.events.len() as u64);
        if length > (MAX_LIST - events.len().min(MAX_LIST)) as u64 {
            let why = format!("the phases have more than {MAX_LIST} events in all");
            reader.out.refuse(phase.place, &phase.subject, why, "lower \"loop\"");
            return None;
        }
        for _ in 0..times {
            events.extend(phase.events.iter().cloned());
        }
    }
    Some((events, whole.get().and_then(|at| at.value.map(|n| Given::is(n, at.place))).unwrap_or_default()))
}

/// Runs between waits on one timer.
fn timed(events: &[At<Event>], first: usize, instances: u64, subject: &str, reader: &mut Reader<'_>) -> Option<Cycle> {
    let Event::Timer { name, period, .. } = &events[first].value else { return None };
    let place = events[first].place;
    let mut jobs = Jobs::default();
    let mut after_last = None;
    let mut waits = 0;
    let before_first = first > 0;
    for event in events {
        match &event.value {
            Event::Run(time) => {
                jobs.run(*time, event.place);
                after_last = Some(event.place);
            }
            Event::Timer { name: other, period: length, .. } => {
                if other != name {
                    let why = format!("it waits on two timers, {name:?} and {other:?}");
                    reader.out.refuse(event.place, subject, why, "use one timer");
                    return None;
                }
                if length != period {
                    let limit = format!("not {period} as on line {}", place.line);
                    let remedy = "a task has one period: make them equal";
                    reader.out.out_of_range(event.place, subject, "the period of its timer", length, limit, remedy);
                    return None;
                }
                waits += 1;
                after_last = None;
                // A cycle that begins with its timer releases its first job when that expires.
                if before_first || waits > 1 {
                    jobs.next();
                }
            }
            // Threads that sleep beside a timer, or wait for others, are read elsewhere.
            _ => return None,
        }
    }
    if let (true, Some(place)) = (before_first, after_last) {
        let why = "it runs before the first and after the last wait of a cycle, so that two runs become one job";
        reader.out.refuse(place, subject, why, "end the cycle with its \"timer\"");
        return None;
    }
    if !before_first {
        jobs.next();
    }
    if !name.starts_with(UNIQUE) && instances > 1 {
        let why = format!("its {instances} instances share the timer {name:?} and would disturb each other");
        reader.out.refuse(place, subject, why, "call the timer \"unique\"");
        return None;
    }
    Some(Cycle {
        offset: if before_first { Duration::ZERO } else { *period },
        period: At { value: *period, place },
        run: jobs.place(),
        jobs: jobs.done,
        loops: Given::Absent,
        program: None,
    })
}

/// Runs and sleeps in turn. With nobody in the way, each release comes a run and a sleep after the one before.
fn sleeping(events: &[At<Event>], subject: &str, reader: &mut Reader<'_>) -> Option<Cycle> {
    let start = events.iter().position(|event| matches!(event.value, Event::Run(_)))?;
    let offset = sleep_of(&events[..start]);
    let mut jobs = Jobs::default();
    let mut periods: Vec<At<Duration>> = Vec::new();
    let mut rest = &events[start..];
    while let Some(sleep) = rest.iter().position(|event| matches!(event.value, Event::Sleep(_))) {
        let end = rest[sleep..].iter().position(|event| matches!(event.value, Event::Run(_)));
        let end = end.map_or(rest.len(), |length| sleep + length);
        for run in &rest[..sleep] {
            if let Event::Run(time) = &run.value {
                jobs.run(*time, run.place);
            }
        }
        let mut gap = sleep_of(&rest[sleep..end]);
        if end == rest.len() {
            // The sleep at the end of a cycle goes on with the one at the start of the next.
            gap += offset;
        }
        let period = jobs.next() + gap;
        periods.push(At { value: period, place: rest[sleep].place });
        rest = &rest[end..];
    }
    if let Some(run) = rest.first() {
        if offset.is_zero() {
            reader.not_periodic = true;
            let why = "it runs at the end and at the start of a cycle, so that two runs become one job";
            reader.out.refuse(run.place, subject, why, "end the cycle with its \"sleep\"");
            return None;
        }
        for run in rest {
            if let Event::Run(time) = &run.value {
                jobs.run(*time, run.place);
            }
        }
        let period = jobs.next() + offset;
        periods.push(At { value: period, place: run.place });
    }
    let period = periods.first()?.clone();
    if let Some(other) = periods.iter().find(|other| other.value != period.value) {
        reader.not_periodic = true;
        let limit = format!("not {} as on line {}", period.value, period.place.line);
        let remedy = "a task has one period: make run and sleep the same in all, or use a \"timer\"";
        reader.out.out_of_range(other.place, subject, "the time from run to run", other.value, limit, remedy);
        return None;
    }
    reader.note(format!(
        "{subject} runs and sleeps without a timer: it is taken as periodic, {} from release to release; in rt-app, \
         whatever delays a run delays all that follow",
        period.value
    ));
    let run = jobs.place();
    Some(Cycle { offset, period, jobs: jobs.done, run, loops: Given::Absent, program: None })
}

fn sleep_of(events: &[At<Event>]) -> Duration {
    events.iter().fold(Duration::ZERO, |sum, event| match &event.value {
        Event::Sleep(time) => sum.checked_add(*time).unwrap_or(Duration::MAX),
        _ => sum,
    })
}

/// Adds runs up to jobs, and remembers where the longest is.
#[derive(Default)]
struct Jobs {
    done: Vec<Duration>,
    current: Duration,
    current_place: Location,
    longest: Duration,
    longest_place: Location,
}

impl Jobs {
    fn run(&mut self, time: Duration, place: Location) {
        if self.current.is_zero() {
            self.current_place = place;
        }
        self.current = self.current.checked_add(time).unwrap_or(Duration::MAX);
    }

    fn next(&mut self) -> Duration {
        if self.current > self.longest {
            (self.longest, self.longest_place) = (self.current, self.current_place);
        }
        let job = std::mem::take(&mut self.current);
        self.done.push(job);
        job
    }

    fn place(&self) -> Location {
        self.longest_place
    }
}
