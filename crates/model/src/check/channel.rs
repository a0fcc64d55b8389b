//! The rules for channels.

use super::health::overrun_remedy;
use super::names::check_name;
use super::release::find;
use crate::draft::{At, Draft, DraftChannel, DraftPort, Given};
use crate::problem::{Collector, Location};
use crate::units::format_size;
use crate::{
    Body, Channel, ChannelKind, Overrun, Port, System, MAX_CHANNELS, MAX_CHANNEL_MEMORY, MAX_DESTINATIONS,
    MAX_MESSAGES, MAX_MESSAGE_SIZE, MAX_PORT_NAME,
};
use tactus_time::Duration;

/// Checks the channels.
pub(super) fn check(draft: &Draft, system: &System, out: &mut Collector) -> Vec<Channel> {
    if let Some(extra) = draft.channels.get(MAX_CHANNELS) {
        let (count, limit) = (draft.channels.len(), format!("more than {MAX_CHANNELS}"));
        out.out_of_range(extra.place, "", "the number of channels", count, limit, "leave some out");
        return Vec::new();
    }
    if let Some((first, change)) = draft.channels.first().zip(draft.changes.first()) {
        let why = "a channel joins two of its tasks, and one that is removed answers nobody";
        out.refuse(change.place, &change.subject, why, format!("remove the change, or {}", first.subject));
        return Vec::new();
    }
    let mut made = Vec::new();
    let mut ports: Vec<(Owner, String)> = Vec::new();
    for drafted in &draft.channels {
        made.extend(one(drafted, system, &made, &mut ports, out));
    }
    made
}

/// Whose memory a task's jobs see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A component of the user's, by its place.
    Component(usize),
    /// That of this task of the built-in workload, which has one of its own.
    Task(usize),
}

impl Owner {
    pub(super) fn of(system: &System, task: usize) -> Owner {
        match system.tasks[task].body {
            Body::Component(place) => Owner::Component(place),
            Body::Workload => Owner::Task(task),
        }
    }
}

/// One channel. `ports` are those of the channels before: whose, and their names.
fn one(
    drafted: &DraftChannel,
    system: &System,
    before: &[Channel],
    ports: &mut Vec<(Owner, String)>,
    out: &mut Collector,
) -> Option<Channel> {
    let subject = drafted.subject.as_str();
    let name = drafted.name.get()?;
    check_name(&name.value, name.place, subject, "name", out);
    if before.iter().any(|other| other.name == name.value) {
        out.refuse(name.place, subject, "another channel has the same name", "choose another one");
        return None;
    }
    let size = size(&drafted.size, subject, out)?;
    let kind = kind(drafted, out)?;
    let room = match kind {
        ChannelKind::Sampling { .. } => 4,
        ChannelKind::Queuing { depth, .. } => u64::from(depth),
    };
    let place = drafted.depth.get().map_or(drafted.place, |at| at.place);
    if !has_room((size, room), (place, subject), out) {
        return None;
    }
    let (source, destinations) = (drafted.source.get()?, drafted.destinations.get()?);
    let queues = matches!(kind, ChannelKind::Queuing { .. });
    let most = if queues { 1 } else { MAX_DESTINATIONS };
    if !(1..=most).contains(&destinations.value.len()) {
        let why = format!("it has {} destinations", destinations.value.len());
        let remedy = match queues {
            true => "name one: each message of a queue is taken by one task; or make a channel for each".into(),
            false => format!("name from 1 to {most} tasks"),
        };
        out.refuse(destinations.place, subject, why, remedy);
        return None;
    }
    let writes = port(source, (subject, &name.value, None), system, ports, out)?;
    let mut reads: Vec<Port> = Vec::new();
    for at in &destinations.value {
        let port = port(at, (subject, &name.value, Some(writes.task)), system, ports, out)?;
        if reads.iter().any(|other| Owner::of(system, other.task) == Owner::of(system, port.task)) {
            let why = format!("{:?} and another of its destinations are of one component", at.value.task);
            out.refuse(at.place, subject, why, "name one of them: the other one's jobs may read by the same port");
            return None;
        }
        reads.push(port);
    }
    if let Some(at) = drafted.latency.get().filter(|at| at.value.is_zero()) {
        out.out_of_range(at.place, subject, "latency", at.value, "no time at all", "raise it");
        return None;
    }
    Some(Channel {
        name: name.value.clone(),
        kind,
        size,
        source: writes,
        destinations: reads,
        latency: drafted.latency.value(),
        line: drafted.place.line,
    })
}

/// Whether the messages are no more memory than a channel may have, whose size and number these are.
pub(super) fn has_room((size, room): (u32, u64), (place, subject): (Location, &str), out: &mut Collector) -> bool {
    let memory = 64 + room * (24 + u64::from(size).next_multiple_of(8));
    if memory > MAX_CHANNEL_MEMORY {
        let (what, limit) =
            (format_size(memory), format!("more than the {} of a channel", format_size(MAX_CHANNEL_MEMORY)));
        out.out_of_range(place, subject, "the memory of its messages", what, limit, "lower its depth or its size");
    }
    memory <= MAX_CHANNEL_MEMORY
}

pub(super) fn size(given: &Given<u64>, subject: &str, out: &mut Collector) -> Option<u32> {
    let at = given.get()?;
    match u32::try_from(at.value).ok().filter(|size| (1..=MAX_MESSAGE_SIZE).contains(size)) {
        Some(size) => Some(size),
        None => {
            let limit = format!("not between 1 B and {}", format_size(MAX_MESSAGE_SIZE.into()));
            let remedy = "choose the length of its longest message";
            out.out_of_range(at.place, subject, "size", format_size(at.value), limit, remedy);
            None
        }
    }
}

/// Sampling or queuing, and the keys that belong to it.
fn kind(drafted: &DraftChannel, out: &mut Collector) -> Option<ChannelKind> {
    let subject = drafted.subject.as_str();
    let at = drafted.kind.get()?;
    let queues = match at.value.as_str() {
        "sampling" => false,
        "queuing" => true,
        other => {
            let complaint = crate::Complaint::Malformed {
                what: "kind".into(),
                found: format!("{:?}", other.chars().take(40).collect::<String>()),
                expected: "\"sampling\" or \"queuing\"".into(),
            };
            out.add(at.place, subject, complaint);
            return None;
        }
    };
    let depth = drafted.depth.get().map(|at| (at.place, "depth"));
    let messages = drafted.messages.get().map(|at| (at.place, "messages"));
    let refresh = drafted.refresh_period.get().map(|at| (at.place, "refresh-period"));
    let (wrong, why) = match queues {
        true => (refresh, "every message of a queue is taken, however old"),
        false => (depth.or(messages), "it keeps the newest message alone"),
    };
    if let Some((place, key)) = wrong {
        out.refuse(place, subject, why, format!("remove {key:?}, or choose the other kind"));
        return None;
    }
    if !queues {
        let refresh = required(&drafted.refresh_period, drafted, "refresh-period = \"50 ms\"", out)?;
        if refresh.value.is_zero() {
            let what = "refresh-period";
            out.out_of_range(refresh.place, subject, what, Duration::ZERO, "no time at all", "raise it");
            return None;
        }
        return Some(ChannelKind::Sampling { refresh_period: refresh.value });
    }
    let depth = required(&drafted.depth, drafted, "depth = 8", out)?;
    let (depth, messages) = numbers(depth, &drafted.messages, subject, out)?;
    Some(ChannelKind::Queuing { depth, messages })
}

/// How many messages have room, and how many a job sends at most.
pub(super) fn numbers(
    depth: &At<u64>,
    messages: &Given<u64>,
    subject: &str,
    out: &mut Collector,
) -> Option<(u32, u32)> {
    let messages = messages.get().map_or((1, depth.place), |at| (at.value, at.place));
    for (what, value, place) in [("depth", depth.value, depth.place), ("messages", messages.0, messages.1)] {
        if !(1..=u64::from(MAX_MESSAGES)).contains(&value) {
            let limit = format!("not between 1 and {MAX_MESSAGES}");
            out.out_of_range(place, subject, what, value, limit, "choose a number of messages");
            return None;
        }
    }
    Some((depth.value as u32, messages.0 as u32))
}

fn required<'d, T>(
    given: &'d Given<T>,
    drafted: &DraftChannel,
    example: &'static str,
    out: &mut Collector,
) -> Option<&'d At<T>> {
    if matches!(given, Given::Absent) {
        let key = example.split(' ').next().unwrap_or_default();
        let complaint = crate::Complaint::MissingKey { key, example: example.into() };
        out.add(drafted.place, &drafted.subject, complaint);
    }
    given.get()
}

/// An end of the channel; of a destination, `source` is the task that writes.
pub(super) fn port(
    at: &At<DraftPort>,
    (subject, channel, source): (&str, &str, Option<usize>),
    system: &System,
    ports: &mut Vec<(Owner, String)>,
    out: &mut Collector,
) -> Option<Port> {
    let task = find(&at.value.task, at.place, (&system.tasks, subject, "task of a channel"), out)?;
    let given = at.value.name.as_deref().unwrap_or(channel);
    if given.is_empty() || given.len() > MAX_PORT_NAME {
        let limit = format!("not between 1 and {MAX_PORT_NAME} bytes");
        let remedy = "name the port: { task = \"map\", port = \"position\" }";
        out.out_of_range(at.place, subject, "the length of a port's name", given.len(), limit, remedy);
        return None;
    }
    let owner = Owner::of(system, task);
    if source.is_some_and(|source| owner == Owner::of(system, source)) {
        let why = format!("{:?} and its source are of one component, which shares its memory", at.value.task);
        out.refuse(at.place, subject, why, "use a static of the component, or give one of them another component");
        return None;
    }
    if system.platform.root.is_some_and(|root| owner == Owner::Component(root)) {
        let why = format!("{:?} is a task of the root scheduler", at.value.task);
        out.refuse(at.place, subject, why, "name a task of another component");
        return None;
    }
    if ports.iter().any(|(other, name)| *other == owner && name == given) {
        let why = format!("the component of {:?} has another port {given:?}", at.value.task);
        out.refuse(at.place, subject, why, "give it another name: { task = \"map\", port = \"position\" }");
        return None;
    }
    let place = system.scheduling.places.get(task).copied().unwrap_or_default();
    // A job that is killed at its deadline has broken its promise, and with it what is promised of its messages; nothing is left half done.
    if !matches!(place.overrun, Overrun::Continue | Overrun::Kill) {
        let why = format!("{:?} may have jobs that never end, and so neither write nor read", at.value.task);
        out.refuse(at.place, subject, why, overrun_remedy(&system.scheduling, task));
        return None;
    }
    ports.push((owner, given.to_owned()));
    Some(Port { name: given.to_owned(), task })
}
