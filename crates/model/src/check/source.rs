//! The rules for what releases a task from outside: a component that raises arrivals, an interrupt line, messages in a buffer.

use crate::draft::{At, Draft, DraftTask};
use crate::problem::{nearest, Collector, Complaint};
use crate::{Body, Component, EarlyArrival, Platform, Release, Scheduling, System, Task, MAX_LINE};
use tactus_time::{CoreId, TaskId};

/// What the rules look at.
pub(super) struct Parts<'a> {
    pub tasks: &'a [Task],
    pub components: &'a [Component],
    pub platform: &'a Platform,
}

/// Sets where the arrivals of the task come from.
pub(super) fn resolve(draft: &Draft, n: usize, parts: &Parts, scheduling: &mut Scheduling, out: &mut Collector) {
    let drafted = &draft.tasks[n];
    if !only_one(drafted, out) {
        return;
    }
    let raised_by = raised_by(drafted, (&parts.tasks[n], parts), out);
    let message = message(drafted, (&parts.tasks[n], parts), out);
    let interrupt = interrupt(draft, n, parts, scheduling, out);
    let Some(place) = scheduling.places.get_mut(n) else { return };
    place.raised_by = raised_by.or(message.map(|(_, sender)| sender));
    place.message = message.map(|(buffer, _)| buffer);
    place.interrupt = interrupt;
}

/// Not two things release a task.
fn only_one(drafted: &DraftTask, out: &mut Collector) -> bool {
    let placing = &drafted.placing;
    let given = [
        placing.interrupt.get().map(|at| (at.place, "interrupt")),
        placing.message.get().map(|at| (at.place, "message")),
        placing.after.get().map(|at| (at.place, "after")),
        placing.raised_by.get().map(|at| (at.place, "raised-by")),
        placing.sporadic.get().map(|at| (at.place, "release")),
    ];
    let mut given = given.into_iter().flatten();
    let Some((place, key)) = given.next().filter(|(_, key)| matches!(*key, "interrupt" | "message")) else {
        return true;
    };
    let Some((_, other)) = given.next() else { return true };
    out.refuse(place, &drafted.subject, format!("{key:?} and {other:?} both tell what releases it"), "remove one");
    false
}

/// The component of this name.
fn component(
    at: &At<String>,
    key: &'static str,
    subject: &str,
    all: &[Component],
    out: &mut Collector,
) -> Option<usize> {
    let found = all.iter().position(|component| component.name == at.value);
    if found.is_none() {
        let complaint = Complaint::UnknownName {
            what: key,
            nearest: nearest(&at.value, all.iter().map(|component| component.name.as_str())),
            name: at.value.chars().take(40).collect(),
            remedy: "name a [[component]] of this file".into(),
        };
        out.add(at.place, subject, complaint);
    }
    found
}

/// The component that raises its arrivals: one whose jobs run on its core, where tasks have cores.
fn raised_by(drafted: &DraftTask, (task, parts): (&Task, &Parts), out: &mut Collector) -> Option<usize> {
    let at = drafted.placing.raised_by.get()?;
    let n = component(at, "raised-by", &drafted.subject, parts.components, out)?;
    raises(at, &drafted.subject, (n, "raise anything"), (task, parts), out);
    Some(n)
}

/// A component can raise arrivals of the task only in jobs, and only where they run beside the task.
fn raises(
    at: &At<String>,
    subject: &str,
    (n, doing): (usize, &str),
    (task, parts): (&Task, &Parts),
    out: &mut Collector,
) {
    let name = &parts.components[n].name;
    let mut jobs = parts.tasks.iter().filter(|other| other.body == Body::Component(n)).peekable();
    if jobs.peek().is_none() {
        let why = format!("{name:?} has no jobs in which it could {doing}");
        out.refuse(at.place, subject, why, "give a task the line component = …, or name another component");
    } else if let Some(other) = jobs.find(|other| other.core != task.core) {
        let why = format!("{name:?} has jobs on another core, those of {:?}", other.name);
        let remedy = "put both on one core or into one cluster, or choose a global policy";
        out.refuse(at.place, subject, why, remedy);
    }
}

/// The buffer whose messages release it, and who sends them: the other one of the two that see it.
fn message(drafted: &DraftTask, (task, parts): (&Task, &Parts), out: &mut Collector) -> Option<(usize, usize)> {
    let at = drafted.placing.message.get()?;
    let subject = drafted.subject.as_str();
    let buffers = &parts.platform.buffers;
    let Some(n) = buffers.iter().position(|buffer| buffer.name == at.value) else {
        let complaint = Complaint::UnknownName {
            what: "message",
            nearest: nearest(&at.value, buffers.iter().map(|buffer| buffer.name.as_str())),
            name: at.value.chars().take(40).collect(),
            remedy: "name a [[buffer]] between its component and the one that sends".into(),
        };
        out.add(at.place, subject, complaint);
        return None;
    };
    let buffer = &buffers[n];
    let Body::Component(own) = task.body else {
        let why = "the built-in workload receives no messages";
        out.refuse(at.place, subject, why, "give it a component of your own");
        return None;
    };
    let sender = buffer.between.iter().copied().find(|other| *other != own);
    let Some(sender) = sender.filter(|_| buffer.between.contains(&own)) else {
        let why = format!("its component is not one of the two that see {:?}", at.value);
        out.refuse(at.place, subject, why, "name its component and the one that sends in \"between\"");
        return None;
    };
    if buffer.reader.is_some() {
        let why = format!("a channel is written by both sides, and one may only read {:?}", at.value);
        out.refuse(at.place, subject, why, "remove \"read-only\" from the buffer");
    }
    raises(at, subject, (sender, "send anything"), (task, parts), out);
    Some((n, sender))
}

/// The interrupt line that releases it.
fn interrupt(draft: &Draft, n: usize, parts: &Parts, scheduling: &Scheduling, out: &mut Collector) -> Option<u8> {
    let (drafted, task) = (&draft.tasks[n], &parts.tasks[n]);
    let at = drafted.placing.interrupt.get()?;
    let mut refuse = |why: &str, remedy: &str| out.refuse(at.place, &drafted.subject, why, remedy);
    let Some(line) = u8::try_from(at.value).ok().filter(|_| at.value <= MAX_LINE) else {
        let limit = format!("not between 0 and {MAX_LINE}");
        out.out_of_range(at.place, &drafted.subject, "interrupt", at.value, limit, "choose one of the machine's");
        return None;
    };
    match task.body {
        Body::Workload => refuse("the built-in workload serves no device", "give it a component of your own"),
        Body::Component(own) if parts.components[own].rights.restart.is_some() => refuse(
            "its component may be restarted, and nobody would set its device up again",
            "remove \"restarted-by\"",
        ),
        Body::Component(_) => {}
    }
    if parts.platform.root.is_some() {
        refuse(
            "a root scheduler of your own is told of devices by brands",
            "remove \"root\", or give the component lines and brands",
        );
    }
    let of_first = |core: CoreId| {
        let cluster = scheduling.clusters.iter().find(|cluster| cluster.contains(core));
        cluster.map_or(core == CoreId(0), |cluster| cluster.contains(CoreId(0)))
    };
    if task.core.is_some_and(|core| !of_first(core)) {
        refuse("interrupt lines come to core 0", "put it on core 0 or into its cluster, or choose a global policy");
    }
    if let Some(early) = drafted.placing.early.get().filter(|early| early.value == EarlyArrival::Drop) {
        let why = "the device of an interrupt without a job is not served, and its line stays silent";
        out.refuse(early.place, &drafted.subject, why, "let it be delayed, or be a fault");
    }
    let mut refuse = |why: &str, remedy: &str| out.refuse(at.place, &drafted.subject, why, remedy);
    let others = draft.tasks[..n].iter().find(|other| other.placing.interrupt.value() == Some(at.value));
    let wired = parts.components.iter().find(|component| component.rights.lines.contains(&line));
    if let Some(other) = others {
        refuse(&format!("interrupt line {line} releases {} already", other.subject), "leave it to one of them");
    } else if let Some(component) = wired {
        let why = format!("interrupt line {line} is for brands of {:?}", component.name);
        refuse(&why, "remove it from \"lines\", or choose another");
    }
    Some(line)
}

impl System {
    /// The interrupt line that releases the task's jobs, if one does.
    pub fn line_of(&self, task: TaskId) -> Option<u8> {
        self.scheduling.places.get(task.index())?.interrupt
    }

    /// The system as it is simulated: a message is sent at the end of the job that sends it, which is the latest that it may be. (A
    /// component with several tasks may send in any of their jobs; what it sends arrives as from outside.)
    pub fn sending_at_completion(&self) -> System {
        let mut system = self.clone();
        for n in 0..system.tasks.len() {
            let Some(place) = system.scheduling.places.get(n).filter(|place| place.message.is_some()) else { continue };
            let sends = |task: &Task| place.raised_by.is_some_and(|sender| task.body == Body::Component(sender));
            let mut senders = (0..self.tasks.len()).filter(|other| sends(&self.tasks[*other]));
            let (Some(sender), None) = (senders.next(), senders.next()) else { continue };
            let early = place.release.early().unwrap_or_default();
            let place = &mut system.scheduling.places[n];
            place.release = Release::After(TaskId(sender as u16), early);
            (place.message, place.raised_by) = (None, None);
        }
        system
    }

    /// The task whose jobs messages in the buffer release, if they do, by its index in [`Platform::buffers`].
    pub fn released_by(&self, buffer: usize) -> Option<TaskId> {
        let task = self.scheduling.places.iter().position(|place| place.message == Some(buffer))?;
        Some(TaskId(task as u16))
    }
}
