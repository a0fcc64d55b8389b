//! Data of booted nodes: whether they can carry it, what each is told of it, and what came of it, from their logs and from what was seen between
//! them.

use super::super::network::data::sentence;
use super::EXCHANGE;
use std::collections::BTreeMap;
use std::mem::discriminant;
use tactus_machine::air::Carried as Seen;
use tactus_model::network::Network;
use tactus_model::System;
use tactus_network::field::data::{checksum, roles};
use tactus_network::field::Run;
use tactus_network::frame::{Frame, NodeId};
use tactus_network::setup::Part;
use tactus_network::stream::Stream;
use tactus_network::verdict::data::booted::{judge, Carried, Evidence, Stated};
use tactus_network::verdict::data::{Finding, Outcome};
use tactus_terminal::lines::{self, count, grouped};
use tactus_time::{Duration, Instant};

/// The longest message that programs hand over in one call.
const LONGEST: u16 = 56;
/// The most streams that programs of one node publish or receive.
const MOST: usize = 16;
/// The most faults that are told.
const MOST_TOLD: usize = 6;
/// The services by which programs publish and take data.
const SERVICES: [&str; 2] = ["publish", "take"];

/// What keeps a node from carrying its data, if anything does.
pub fn refusal(network: &Network) -> Option<String> {
    let field = &network.field;
    if let Some(long) = field.streams.iter().find(|it| it.bytes > LONGEST) {
        let name = long.name.as_str();
        return Some(format!(
            "data {name:?}: {} B are more than the {LONGEST} B of a booted node's messages; shorten it, or use simulate",
            long.bytes
        ));
    }
    if field.streams.is_empty() {
        return None;
    }
    for (n, roles) in roles(field, &field.trees()).iter().enumerate().filter(|(_, roles)| !roles.is_empty()) {
        let (node, system) = (&network.nodes[n], &network.systems[network.system_of[n]?]);
        let file = system.source.display();
        let own = roles.iter().filter(|it| it.parent.is_none() || it.receives).count();
        if own > MOST {
            return Some(format!(
                "node {node:?} has a part of {own} streams, more than the {MOST} of a booted node; use simulate"
            ));
        }
        let exchange = system.components.iter().position(|it| it.name == EXCHANGE)?;
        let missing = SERVICES.iter().find(|it| !system.components[exchange].provides.iter().any(|own| own == *it));
        if let Some(missing) = missing.filter(|_| own > 0) {
            return Some(format!(
                "{file}: data comes to node {node:?}, and its component {EXCHANGE:?} does not provide {missing:?}; write provides = \
                 [\"publish\", \"take\"]"
            ));
        }
        // Whatever comes, or is published, waits for the exchange's next job to end.
        let Some(task) = system.tasks.iter().find(|it| it.body == tactus_model::Body::Component(exchange)) else {
            continue;
        };
        let least = task.period.checked_add(task.deadline).unwrap_or(Duration::MAX);
        if field.members[n].forward < least {
            return Some(format!(
                "node {node:?}: forward is {}, and a booted node needs the period and the deadline of its exchange's task, {least}; \
                 write forward = \"{least}\"",
                field.members[n].forward
            ));
        }
        // One frame in each job.
        let frames: f64 = roles
            .iter()
            .filter(|it| it.relays)
            .map(|it| task.period.as_secs_f64() / it.frame_period.as_secs_f64())
            .sum();
        if frames >= 1.0 {
            return Some(format!(
                "node {node:?} would have to send {:.1} frames of data in each period of its exchange's task, and sends one; lengthen \
                 periods, repeat less, or shorten that of the task",
                frames
            ));
        }
    }
    None
}

/// A node's parts of streams.
pub fn parts(network: &Network, n: usize) -> Vec<Part> {
    let field = &network.field;
    let all = roles(field, &field.trees()).swap_remove(n);
    let part = |role: tactus_network::exchange::Role| {
        let stream = &field.streams[usize::from(role.stream)];
        Part { name: stream.name, from: NodeId(stream.from as u32), role }
    };
    all.into_iter().map(part).collect()
}

/// By slot, how much greater the number of its component is than that of the exchange: components of the user's own are numbered in their order, but
/// for a root scheduler among them.
pub fn slots(system: &System) -> Vec<i16> {
    let number = |place: usize| (0..place).filter(|it| system.platform.root != Some(*it)).count() as i16;
    let exchange = system.components.iter().position(|it| it.name == EXCHANGE).unwrap_or(0);
    let of = |slot: usize| system.components.iter().position(|it| it.slot == Some(slot));
    (0..system.slots.len()).map(|slot| of(slot).map_or(0, |place| number(place) - number(exchange))).collect()
}

/// Whether it is a frame of data.
pub fn is_data(ethernet: &[u8]) -> bool {
    read(ethernet).is_some()
}

fn read(ethernet: &[u8]) -> Option<(NodeId, u16, u32, u8, &[u8])> {
    let length = usize::from(u16::from_be_bytes(ethernet.get(14..16)?.try_into().ok()?));
    let ours = ethernet.get(12..14)? == [0x88, 0xb5];
    match Frame::read(ethernet.get(16..16 + length).filter(|_| ours)?).ok()? {
        (sender, Frame::Data { stream, sequence, repetition, bytes }) => {
            Some((sender, stream, sequence, repetition, bytes))
        }
        _ => None,
    }
}

/// Adds a line of a node's exchange component, if it is one of data: `12345 took 0 17 5af3…`.
pub fn read_line(n: usize, words: &[&str], all: &mut Evidence) {
    let [time, word, stream, sequence, rest @ ..] = words else { return };
    let (Ok(time), Ok(stream), Ok(sequence)) = (time.parse(), stream.parse(), sequence.parse()) else { return };
    let time = Instant::from_nanos(time);
    let told = || {
        let checksum = u64::from_str_radix(rest.first()?, 16).ok()?;
        Some(Stated { node: n, time, stream, sequence, checksum })
    };
    match *word {
        "sent" => all.published.extend(told()),
        "took" => all.taken.extend(told()),
        "rejects" => all.refused.push((n, time, stream)),
        _ => {}
    }
}

/// Adds what was seen between machines.
pub fn seen(kept: &[Seen], all: &mut Evidence) {
    let clock = |it: Duration| Instant::ZERO + it;
    let carried = |it: &Seen| {
        let (sender, stream, sequence, repetition, bytes) = read(&it.bytes)?;
        let heard = it.heard.iter().map(|(n, time)| (*n, clock(*time))).collect();
        let (stream, checksum) = (stream.into(), checksum(bytes));
        Some(Carried { node: it.from, time: clock(it.time), sender, stream, sequence, repetition, checksum, heard })
    };
    all.carried.extend(kept.iter().filter_map(carried));
}

/// Tells what became of data, and judges it: the verdict's words, and whether it is held.
pub fn judged(network: &Network, run: &Run, evidence: &Evidence) -> (String, bool) {
    let verdict = judge(&network.field, run, evidence);
    let row = |(stream, outcome): (&Stream, &Outcome)| {
        let figures = [outcome.published, outcome.due, outcome.received, outcome.lost].map(grouped);
        let names = [stream.name.as_str().to_string(), network.nodes[stream.from].clone()];
        names.into_iter().chain(figures).collect()
    };
    let rows: Vec<Vec<String>> = network.field.streams.iter().zip(&verdict.outcomes).map(row).collect();
    lines::line("data", lines::table(&["data", "from", "messages", "due", "received", "lost"], &rows));
    let mut frames: BTreeMap<usize, u64> = BTreeMap::new();
    evidence.carried.iter().for_each(|it| *frames.entry(it.node).or_default() += 1);
    let frames = frames.iter().map(|(n, frames)| format!("{} {}", network.nodes[*n], grouped(*frames)));
    lines::line("", format!("frames of data: {}", frames.collect::<Vec<_>>().join(", ")));
    let delays = "delays cannot be judged: each node has a clock of its own";
    // Of each kind of fault at each node the first.
    let mut told: Vec<&Finding> = Vec::new();
    for it in &verdict.wrong {
        let same = |other: &&Finding| other.node == it.node && discriminant(&other.wrong) == discriminant(&it.wrong);
        if told.len() < MOST_TOLD && !told.iter().any(same) {
            told.push(it);
        }
    }
    if !told.is_empty() {
        let more = verdict.wrong.len() - told.len();
        let all: Vec<String> = told.iter().map(|it| sentence(network, it)).collect();
        let more = if more > 0 { format!("; {} more", grouped(more as u64)) } else { String::new() };
        return (lines::bad(format!("{}{more}; {delays}", all.join("; "))), false);
    }
    let sum = |of: fn(&Outcome) -> u64| verdict.outcomes.iter().map(of).sum::<u64>();
    let (received, lost) = (sum(|it| it.received), sum(|it| it.lost));
    if received == 0 {
        return (lines::bad(format!("no data was exchanged, and nothing of it can be judged; {delays}")), false);
    }
    let lost = if lost > 0 { format!(", {} lost with all their frames", grouped(lost)) } else { String::new() };
    let messages = count(received as usize, "message");
    (
        lines::good(format!("{messages} of data taken, each whole, in order, once, by whom it is for{lost}; {delays}")),
        true,
    )
}
