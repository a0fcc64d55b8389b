//! Threads of rt-app that wait for each other: what each does, step by step, and the events by which they do.
//!
//! A mutex is a semaphore of one. A condition variable is one, and whoever waits for it gives its mutex back at the same instant and takes
//! it again afterwards. `suspend` waits for the condition of the thread's own name, which `resume` broadcasts: as in rt-app, one that
//! nobody waits for is lost.

use super::cycle::{Cycle, Event, Phase, UNIQUE};
use super::events::{Events, Kind};
use super::fields::{Fields, Reader};
use crate::draft::{At, Given};
use crate::problem::Location;
use crate::{JobAction, JobStep, Program, WaitLimit, MAX_LIST, SHORTEST_JOB};
use tactus_time::Duration;

/// The events of each time round a phase, one after another.
type Rounds<'p> = Vec<&'p [At<Event>]>;

/// A job as it is put together.
#[derive(Default)]
struct Body {
    length: Duration,
    steps: Vec<JobStep>,
    place: Location,
}

impl Body {
    fn step(&mut self, action: JobAction) {
        self.steps.push(JobStep { after: self.length, action });
    }
}

/// The cycle of a thread where threads wait for each other; nothing if it is none.
pub(super) fn of(
    phases: &[Phase],
    thread: &Fields<'_>,
    name: &str,
    instances: u64,
    reader: &mut Reader<'_>,
) -> Option<Cycle> {
    let mut events = std::mem::take(&mut reader.events);
    let cycle = with_events(phases, (thread, name, instances), &mut events, reader);
    reader.events = events;
    cycle
}

fn with_events(
    phases: &[Phase],
    (thread, name, instances): (&Fields<'_>, &str, u64),
    events: &mut Events,
    reader: &mut Reader<'_>,
) -> Option<Cycle> {
    let subject = thread.subject.as_str();
    let (all, loops) = flatten(phases, thread, reader)?;
    let barriers: std::collections::BTreeSet<&str> = phases
        .iter()
        .flat_map(|phase| &phase.events)
        .filter_map(|event| match &event.value {
            Event::Barrier(barrier) => Some(barrier.as_str()),
            _ => None,
        })
        .collect();
    for barrier in barriers {
        let barrier = events.of(Kind::Barrier, barrier);
        events.join(barrier, instances);
    }
    let timer = all.iter().flat_map(|phase| phase.iter()).find_map(|event| match &event.value {
        Event::Timer { name, period, relative } if !period.is_zero() => {
            Some((name.clone(), *period, event.place, *relative))
        }
        _ => None,
    });
    let mut bodies = Vec::new();
    let mut body = Body { place: thread.place, ..Body::default() };
    for phase in &all {
        for event in phase.iter() {
            if let Event::Timer { name: other, period, .. } = &event.value {
                let Some((name, length, place, _)) = timer.as_ref().filter(|_| !period.is_zero()) else { continue };
                if name != other || length != period {
                    let why = format!("it waits on two timers, or on one with two periods (see line {})", place.line);
                    reader.out.refuse(event.place, subject, why, "use one timer with one period");
                    return None;
                }
                bodies.push(std::mem::take(&mut body));
            } else {
                add(&event.value, event.place, (&mut body, name), events, reader);
            }
        }
        // Without a timer each time round a phase is a job, and the next one begins when it is done.
        if timer.is_none() {
            bodies.push(std::mem::take(&mut body));
        }
    }
    if let (Some((_, _, place, _)), false) = (&timer, body.steps.is_empty() && body.length.is_zero()) {
        let why = "it goes on after the last timer of its cycle, so that two runs become one job";
        reader.out.refuse(*place, subject, why, "end the cycle with its \"timer\"");
        return None;
    }
    let sleeps = |body: &Body| body.steps.iter().filter(|step| matches!(step.action, JobAction::Sleep(_))).count();
    if let Some(body) = bodies.iter().find(|body| sleeps(body) > WaitLimit::MOST) {
        let (count, limit) = (sleeps(body), format!("more than {}", WaitLimit::MOST));
        reader.out.out_of_range(
            body.place,
            subject,
            "the number of sleeps in a phase",
            count,
            limit,
            "use more phases",
        );
        return None;
    }
    if let Some((name, _, place, _)) = timer.as_ref().filter(|(name, ..)| instances > 1 && !name.starts_with(UNIQUE)) {
        let why = format!("its {instances} instances share the timer {name:?} and would disturb each other");
        reader.out.refuse(*place, subject, why, "call the timer \"unique\"");
        return None;
    }
    let mut offset = Duration::ZERO;
    if let Some((_, period, place, true)) = &timer {
        let once = matches!(&loops, Given::Is(At { value: 1, .. }));
        offset = starts_anew(&mut bodies, (*period, *place), once, subject, reader)?;
    }
    let timer = timer.map(|(_, period, place, _)| At { value: period, place });
    Some(Cycle { offset, ..cycle(bodies, timer, loops, (thread.place, events)) })
}

/// A relative timer counts from when it is first asked, and from anew where it is asked after its time: where that is only once, after a sleep
/// at the start, the periods begin so much later. Elsewhere releases have no fixed distance.
fn starts_anew(
    bodies: &mut [Body],
    (period, place): (Duration, Location),
    once: bool,
    subject: &str,
    reader: &mut Reader<'_>,
) -> Option<Duration> {
    let slept = |body: &Body| {
        body.steps.iter().fold(Duration::ZERO, |sum, step| match step.action {
            JobAction::Sleep(length) => sum.checked_add(length).unwrap_or(Duration::MAX),
            _ => sum,
        })
    };
    let late = |body: &Body| slept(body).checked_add(body.length).is_none_or(|length| length > period);
    let Some(first) = bodies.iter().position(|body| !slept(body).is_zero() && late(body)) else {
        return Some(Duration::ZERO);
    };
    let others = bodies.iter().skip(1).any(|body| !slept(body).is_zero() && late(body));
    let body = &mut bodies[first];
    let at_start = body.steps.first().filter(|step| step.after.is_zero()).map(|step| &step.action);
    let (Some(JobAction::Sleep(sleep)), true) = (at_start, first == 0 && once && !others && body.length <= period)
    else {
        let why = format!(
            "it sleeps for longer than the period of {period} of its relative timer, which then starts anew: its releases have no fixed distance"
        );
        reader.out.refuse(place, subject, why, "shorten the sleep, or write \"mode\" : \"absolute\"");
        return None;
    };
    // The second job begins when the first is done, and the first as much earlier as a period is longer than it.
    let rest = period.saturating_sub(body.length);
    let offset = sleep.saturating_sub(rest);
    body.steps[0].action = JobAction::Sleep(rest);
    if rest.is_zero() {
        body.steps.remove(0);
    }
    Some(offset)
}

/// The jobs in turn.
fn cycle(
    bodies: Vec<Body>,
    timer: Option<At<Duration>>,
    loops: Given<u64>,
    (place, events): (Location, &mut Events),
) -> Cycle {
    let mut program = Program::default();
    let mut jobs = Vec::new();
    let run = bodies.iter().max_by_key(|body| body.length).map_or(place, |body| body.place);
    for body in bodies {
        let known = program.bodies.iter().position(|steps| *steps == body.steps);
        let number = known.unwrap_or_else(|| {
            program.bodies.push(body.steps);
            program.bodies.len() - 1
        });
        program.order.push(number as u16);
        jobs.push(body.length.max(SHORTEST_JOB));
    }
    let once = jobs.len() as u64;
    let mut jobs_in_all = Given::Absent;
    if let Given::Is(at) = &loops {
        jobs_in_all = Given::is(at.value.saturating_mul(once), at.place);
        if timer.is_none() && at.value.saturating_mul(once) <= MAX_LIST as u64 {
            // Round so often, and then no more.
            program.order = program.order.repeat(at.value as usize);
            jobs = jobs.repeat(at.value as usize);
            let never = JobAction::Await { event: events.never(), gives: None };
            program.bodies.push(vec![JobStep { after: Duration::ZERO, action: never }]);
            program.order.push((program.bodies.len() - 1) as u16);
            jobs.push(SHORTEST_JOB);
        }
    }
    let itself = timer.is_none();
    let period = timer.unwrap_or(At { value: Duration::ZERO, place });
    Cycle { offset: Duration::ZERO, period, jobs, run, loops: jobs_in_all, program: Some((program, itself)) }
}

/// Adds what an event does to the job.
fn add(
    event: &Event,
    place: Location,
    (body, thread): (&mut Body, &str),
    events: &mut Events,
    reader: &mut Reader<'_>,
) {
    if body.steps.is_empty() && body.length.is_zero() {
        body.place = place;
    }
    let wait = |body: &mut Body, events: &mut Events, queue: &str, mutex: &str| {
        let mutex = events.of(Kind::Mutex, mutex);
        body.step(JobAction::Await { event: events.of(Kind::Condition, queue), gives: Some(mutex) });
        body.step(JobAction::Await { event: mutex, gives: None });
    };
    match event {
        Event::Run(time) => body.length = body.length.checked_add(*time).unwrap_or(Duration::MAX),
        Event::Sleep(time) if time.is_zero() => {}
        Event::Sleep(time) => body.step(JobAction::Sleep(*time)),
        Event::Timer { .. } => {}
        Event::Lock(mutex) => body.step(JobAction::Await { event: events.of(Kind::Mutex, mutex), gives: None }),
        Event::Unlock(mutex) => body.step(JobAction::Signal(events.of(Kind::Mutex, mutex))),
        Event::Wait { queue, mutex } => wait(body, events, queue, mutex),
        Event::Sync { queue, mutex } => {
            body.step(JobAction::Signal(events.of(Kind::Condition, queue)));
            wait(body, events, queue, mutex);
        }
        Event::Signal(queue) => body.step(JobAction::Signal(events.of(Kind::Condition, queue))),
        Event::Broadcast(queue) => body.step(JobAction::Broadcast(events.of(Kind::Condition, queue))),
        Event::Resume(other) => body.step(JobAction::Broadcast(events.of(Kind::Condition, other))),
        Event::Suspend(named) => {
            if named.as_ref().is_some_and(|named| named != thread) {
                reader.note("the name that \"suspend\" gives is ignored, as rt-app does: a thread waits until it is itself resumed");
            }
            body.step(JobAction::Await { event: events.of(Kind::Condition, thread), gives: None });
        }
        Event::Barrier(barrier) => {
            body.step(JobAction::Await { event: events.of(Kind::Barrier, barrier), gives: None })
        }
        Event::Post(semaphore) => body.step(JobAction::Signal(events.of(Kind::Semaphore, semaphore))),
        Event::Take(semaphore) => {
            body.step(JobAction::Await { event: events.of(Kind::Semaphore, semaphore), gives: None })
        }
    }
}

/// The events of each time round a phase, one after another, and how often the whole comes, if there is an end.
fn flatten<'p>(phases: &'p [Phase], thread: &Fields<'_>, reader: &mut Reader<'_>) -> Option<(Rounds<'p>, Given<u64>)> {
    let named = thread.get("phases").is_some();
    let whole = super::thread::read_loop(thread, reader)?;
    let whole = whole.get().and_then(|at| at.value.map(|n| Given::is(n, at.place))).unwrap_or_default();
    let mut all = Vec::new();
    for phase in phases {
        let times = match &phase.loops {
            _ if !named => 1,
            Given::Is(At { value: Some(times), .. }) => *times,
            Given::Is(At { value: None, place }) if phases.len() > 1 => {
                let why = "it loops for ever, so the other phases do not come round";
                reader.out.refuse(*place, &phase.subject, why, "write how many times, or make it the only phase");
                return None;
            }
            _ => 1,
        };
        if times.saturating_add(all.len() as u64) > u64::from(u16::MAX) {
            let why = format!("the phases come more than {} times in all", u16::MAX);
            reader.out.refuse(phase.place, &phase.subject, why, "lower \"loop\"");
            return None;
        }
        all.extend((0..times).map(|_| phase.events.as_slice()));
    }
    Some((all, whole))
}
