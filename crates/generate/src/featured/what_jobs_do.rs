//! What releases jobs, and what they do beside executing.

use crate::random::Random;
use tactus_model::{
    Body, Burst, Channel, ChannelKind, Component, EarlyArrival, EventRule, Feature, JobAction, JobStep, Overrun, Port,
    Program, Release, RequestOrder, Resource, ResourceProtocol, Rights, Section, Service, ServiceClient, System, Wait,
};
use tactus_time::{Duration, TaskId};

/// A task, any of them.
fn some(system: &System, random: &mut Random) -> usize {
    random.below(system.tasks.len() as u64) as usize
}

/// Two tasks of one queue, the first of which is not more frequent.
fn pair(system: &System, random: &mut Random) -> Option<(usize, usize)> {
    let n = some(system, random);
    let fits = |other: &usize| {
        let same = system.queue_of(*other) == system.queue_of(n) && system.home(*other) == system.home(n);
        *other != n && same && system.tasks[*other].core == system.tasks[n].core
    };
    let other = (0..system.tasks.len()).find(fits)?;
    let slower = system.tasks[other].period >= system.tasks[n].period;
    Some(if slower { (other, n) } else { (n, other) })
}

/// Sets what releases a task, or its deadline.
pub(super) fn releases(feature: Feature, system: &mut System, random: &mut Random) {
    let n = some(system, random);
    let early = EarlyArrival::Delay;
    let period = system.tasks[n].period;
    let arrives = |system: &mut System, release| {
        system.scheduling.places[n].release = release;
        system.tasks[n].offset = Duration::ZERO;
    };
    match feature {
        Feature::Offset => system.tasks[n].offset = part(random, period, 0.1, 0.9),
        Feature::Sporadic => arrives(system, Release::Sporadic(early)),
        Feature::Burst => {
            let burst = Burst { jitter: part(random, period, 0.5, 2.5), distance: part(random, period, 0.0, 0.2) };
            arrives(system, Release::Bursts(early, burst));
        }
        Feature::Jitter => {
            let offset = system.tasks[n].offset;
            arrives(system, Release::Jittered(part(random, period, 0.1, 1.5)));
            system.tasks[n].offset = offset;
        }
        Feature::After => {
            if let Some((first, second)) = pair(system, random) {
                system.scheduling.places[second].release = Release::After(TaskId(first as u16), early);
                system.tasks[second].offset = Duration::ZERO;
            }
        }
        Feature::AfterItself => arrives(system, Release::After(TaskId(n as u16), early)),
        Feature::Interrupt => {
            arrives(system, Release::Sporadic(early));
            system.scheduling.places[n].interrupt = Some(5);
        }
        Feature::Message | Feature::Raised => {
            arrives(system, Release::Sporadic(early));
            let component = component(system);
            system.scheduling.places[n].raised_by = Some(component);
            system.scheduling.places[n].message = (feature == Feature::Message).then_some(0);
        }
        Feature::Handler => {
            arrives(system, Release::Sporadic(early));
            super::donor::handler(system, n);
        }
        Feature::ConstrainedDeadline => {
            let task = &mut system.tasks[n];
            let least = task.budget().max(task.period / 2);
            task.deadline = least.max(task.period - task.period / 5).min(task.period - Duration::from_nanos(1));
        }
        Feature::ArbitraryDeadline => system.tasks[n].deadline = period + period / 2,
        Feature::VirtualDeadline => system.scheduling.places[n].virtual_deadline = Some(period / 2),
        _ => {}
    }
}

/// Has the jobs of two tasks hold a resource.
pub(super) fn sections(feature: Feature, system: &mut System, random: &mut Random) {
    let protocol = match feature {
        Feature::SectionNonPreemptive => ResourceProtocol::NonPreemptive,
        Feature::SectionInheritance => ResourceProtocol::Inheritance,
        Feature::SectionMsrp | Feature::SectionAcrossCores => ResourceProtocol::Msrp,
        Feature::SectionFmlp => ResourceProtocol::Fmlp,
        // What lies beside is of the same kind, since some kinds do not go together.
        _ => system.scheduling.resources.last().map_or(ResourceProtocol::Ceiling, |it| it.protocol),
    };
    let tasks = system.tasks.len();
    let Some((first, second)) = pair(system, random) else { return };
    let across = (0..tasks).find(|other| system.tasks[*other].core != system.tasks[first].core);
    let users = match (feature, across) {
        (Feature::SectionAcrossCores, Some(other)) => [first, other],
        _ => [first, second],
    };
    let scheduling = &mut system.scheduling;
    let withdrawn = feature == Feature::Withdrawn;
    let name = |n: usize| format!("r{n}");
    let resource = scheduling.resources.len();
    scheduling.resources.push(Resource { name: name(resource), protocol, withdrawn, line: 0 });
    scheduling.sections.resize(tasks, Vec::new());
    for n in users {
        let time = system.tasks[n].budget();
        // Apart from the sections that it has: they halve what is left.
        let after = scheduling.sections[n].iter().map(Section::end).max().unwrap_or(time / 8);
        let length = time.saturating_sub(after) / 4;
        scheduling.sections[n].push(Section { resource, after, length, actual: None });
    }
    if feature == Feature::NestedSections {
        let inner = scheduling.resources.len();
        scheduling.resources.push(Resource { name: name(inner), protocol, withdrawn, line: 0 });
        for n in users {
            let Some(Section { after, length, .. }) = scheduling.sections[n].last().copied() else { continue };
            let (after, length) = (after + length / 4, length / 4);
            scheduling.sections[n].push(Section { resource: inner, after, length, actual: None });
        }
    }
}

/// Sets what a task's jobs do beside executing, and what becomes of them.
pub(super) fn steps(feature: Feature, system: &mut System, random: &mut Random) {
    let n = some(system, random);
    let tasks = system.tasks.len();
    let time = system.tasks[n].budget();
    match feature {
        Feature::PreemptionThreshold => {
            let place = &mut system.scheduling.places[n];
            place.threshold = Some(place.priority + random.between(0, 100) as u32);
        }
        Feature::Wait => {
            // Not in a section.
            let after = system.scheduling.sections_of(n).iter().map(Section::end).max().unwrap_or(time / 2);
            let after = after.max(Duration::from_nanos(1)).min(time.saturating_sub(Duration::from_nanos(1)));
            let room = system.tasks[n].deadline.saturating_sub(time);
            let length = part(random, room, 0.05, 0.5).max(Duration::from_micros(1));
            system.scheduling.waits.resize(tasks, Vec::new());
            system.scheduling.waits[n] = vec![Wait { after, length, actual: None }];
        }
        Feature::Condition => event(system, n, EventRule::Condition, |event| JobAction::Await { event, gives: None }),
        Feature::Semaphore => {
            event(system, n, EventRule::Semaphore(1), |event| JobAction::Await { event, gives: None })
        }
        Feature::Barrier => event(system, n, EventRule::Barrier(2), |event| JobAction::Await { event, gives: None }),
        Feature::Signal => event(system, n, EventRule::Condition, JobAction::Signal),
        Feature::Skip if system.scheduling.places[n].release.burst().is_none() => {
            system.scheduling.places[n].overrun = Overrun::Skip;
        }
        Feature::Stop => system.scheduling.places[n].overrun = Overrun::Stop,
        Feature::Kill => system.scheduling.places[n].overrun = Overrun::Kill,
        Feature::Component => {
            let component = component(system);
            system.tasks[n].body = Body::Component(component);
        }
        Feature::Channel => {
            let port = |task: usize| Port { name: "c".into(), task };
            let kind = ChannelKind::Sampling { refresh_period: Duration::from_secs(1) };
            let destinations = vec![port((n + 1) % tasks)];
            let (name, source) = ("c".into(), port(n));
            system.channels.push(Channel { name, kind, size: 8, source, destinations, latency: None, line: 0 });
        }
        Feature::Service => {
            let clients = vec![ServiceClient { tasks: vec![n] }];
            system.services.push(Service {
                name: "s".into(),
                server: (n + 1) % tasks,
                clients,
                order: RequestOrder::Turns,
                requests: 1,
                size: 8,
                latency: Duration::from_secs(2),
                shaped: false,
                first: 0,
                line: 0,
            });
        }
        _ => {}
    }
}

/// Has the task's jobs do something about a new event.
fn event(system: &mut System, n: usize, rule: EventRule, action: impl Fn(u16) -> JobAction) {
    let number = system.scheduling.events.len() as u16;
    system.scheduling.events.push(rule);
    system.scheduling.programs.resize(system.tasks.len(), Program::default());
    let program = &mut system.scheduling.programs[n];
    if program.bodies.is_empty() {
        *program = Program { bodies: vec![Vec::new()], order: vec![0] };
    }
    let after = program.bodies[0].last().map_or(Duration::from_micros(1), |step| step.after);
    program.bodies[0].push(JobStep { after, action: action(number) });
}

/// A component of the user's own; the first, if there is one.
pub(super) fn component(system: &mut System) -> usize {
    if system.components.is_empty() {
        system.components.push(Component {
            name: "own".into(),
            path: "own".into(),
            slot: None,
            provides: Vec::new(),
            uses: Vec::new(),
            rights: Rights::default(),
            line: 0,
        });
    }
    0
}

/// A part of a length between these shares of it, in whole microseconds.
fn part(random: &mut Random, of: Duration, least: f64, most: f64) -> Duration {
    let share = least + (most - least) * random.unit();
    Duration::from_micros((of.as_nanos() as f64 * share / 1e3) as u64)
}
