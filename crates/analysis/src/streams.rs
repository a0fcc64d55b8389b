//! Bounds of data from end to end: from the start of a period to the arrival of its message at each receiver, over all hops.
//!
//! Each node sends one frame at a time, the most urgent one that waits, and none stops another. So a node's sender is a processor under
//! fixed priorities without preemption, on which each frame of a stream is a job, and [`nonpreemptive_fp`] bounds its response. Nodes are
//! put together by holistic analysis (Tindell and Clark, "Holistic schedulability analysis for distributed hard real-time systems",
//! Microprocessing and Microprogramming 40, 1994): what a frame may be late by at one node is its jitter at the next one. With B and W
//! the least and the greatest time from the nominal release of a frame to its waiting at a node, C its time on the wire, T the period of
//! the stream's frames, and R its response with the jitter J = W − B:
//!
//! ```text
//! B = 0,                W = jitter + forward(sender)                  at the sender
//! B' = B + C + delay,   W' = B + R + delay + forward(next node)       at each hop
//! ```
//!
//! Jitters depend on each other, so the least fixed point is taken, from below. A message that is sent k times more is there with its
//! last frame at the latest: W' + k·T where a link loses frames, of those that at least one frame brings.
//!
//! Priorities are strict: equal ones count as more urgent, all else that a node sends is the least urgent and delays by the longest of its
//! frames. A frame that starts at the very instant of a release is counted as started before it. Delays of links are what the file says.

use crate::effort::Effort;
use crate::task::Sporadic;
use crate::uniprocessor::{nonpreemptive_fp, overloaded};
use crate::utilisation::Utilisation;
use tactus_network::field::Field;
use tactus_network::stream::Stream;
use tactus_network::tree::Tree;
use tactus_time::Duration;

/// The way of a stream to one of its receivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// The receiver.
    pub to: usize,
    /// Over how many hops.
    pub hops: u32,
    /// The least time from the nominal release of a frame to its arrival.
    pub least: Duration,
    /// The greatest time from the start of a period to the arrival of its message; none where a sender on the way has no bound.
    pub bound: Option<Duration>,
    /// Whether a link of the way loses frames.
    pub loses: bool,
}

impl Path {
    /// Whether the stream may be promised to this receiver within its deadline: of a way that loses frames, only if each message is
    /// repeated.
    pub fn holds(&self, stream: &Stream) -> bool {
        self.bound.is_some_and(|bound| bound <= stream.deadline) && (!self.loses || stream.repetitions > 0)
    }
}

/// A node that has more to send than it can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overloaded {
    /// Which.
    pub node: usize,
    /// The time that it needs, in millionths of what there is.
    pub millionths: u64,
    /// The streams that it sends.
    pub streams: Vec<usize>,
}

/// What can be promised of a network's data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StreamsCheck {
    /// By stream, its receivers.
    pub paths: Vec<Vec<Path>>,
    /// Nodes that can't send all that they should.
    pub overloaded: Vec<Overloaded>,
}

/// As often all senders are looked at anew; what moves still then has no bound.
const ROUNDS: usize = 1_000;

/// What one node sends of one stream.
struct Leg {
    stream: usize,
    hop: usize,
    /// The hops that take it from here.
    next: Vec<usize>,
    /// Its jitter comes with each round.
    frame: Sporadic,
    priority: u8,
}

/// B and W of a frame at a node; none if W has no bound.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Arrival {
    least: Duration,
    greatest: Option<Duration>,
}

/// Bounds all paths of all streams.
pub fn streams(field: &Field) -> StreamsCheck {
    let trees = field.trees();
    let mut senders: Vec<Vec<Leg>> = field.members.iter().map(|_| Vec::new()).collect();
    let mut arrivals: Vec<Vec<Arrival>> = Vec::new();
    for (n, (stream, tree)) in field.streams.iter().zip(&trees).enumerate() {
        let wire = |at: usize| stream.on_the_wire(n, tree.hops[at].node, field.byte);
        let mut next: Vec<Vec<usize>> = tree.hops.iter().map(|_| Vec::new()).collect();
        for (at, hop) in tree.hops.iter().enumerate().skip(1) {
            next[hop.parent].push(at);
        }
        let mut all: Vec<Arrival> = Vec::new();
        for (at, hop) in tree.hops.iter().enumerate() {
            all.push(if at == 0 {
                let greatest = add(stream.jitter, field.members[hop.node].forward);
                Arrival { least: Duration::ZERO, greatest: Some(greatest) }
            } else {
                let least = add(add(all[hop.parent].least, wire(hop.parent)), hop.delay);
                Arrival { least, greatest: Some(least) }
            });
            if hop.relays {
                let frame = Sporadic::implicit(wire(at), stream.frame_period());
                let next = std::mem::take(&mut next[at]);
                senders[hop.node].push(Leg { stream: n, hop: at, next, frame, priority: stream.priority });
            }
        }
        arrivals.push(all);
    }
    let other = field.byte.checked_mul(field.longest_other() as u64).unwrap_or(Duration::MAX);
    let mut stale: Vec<bool> = senders.iter().map(|legs| !legs.is_empty()).collect();
    let mut round = 0;
    while stale.contains(&true) {
        let mut next = vec![false; senders.len()];
        for legs in senders.iter().zip(&stale).filter(|(_, stale)| **stale).map(|it| it.0) {
            for leg in legs {
                let response = response(leg, legs, &arrivals, other);
                let least = arrivals[leg.stream][leg.hop].least;
                for &to in &leg.next {
                    let hop = &trees[leg.stream].hops[to];
                    let forward = field.members[hop.node].forward;
                    let greatest = response.map(|response| add(add(add(least, response), hop.delay), forward));
                    let known = &mut arrivals[leg.stream][to].greatest;
                    let greatest = greatest.filter(|_| round < ROUNDS || *known == greatest);
                    if *known != greatest {
                        *known = greatest;
                        next[hop.node] |= hop.relays;
                    }
                }
            }
        }
        (stale, round) = (next, round + 1);
    }
    let paths = field.streams.iter().zip(&trees).zip(&arrivals).map(|((stream, tree), all)| paths(stream, tree, all));
    StreamsCheck { paths: paths.collect(), overloaded: overloads(&senders) }
}

/// R of a frame at a node, its jitter included.
fn response(leg: &Leg, legs: &[Leg], arrivals: &[Vec<Arrival>], other: Duration) -> Option<Duration> {
    let late = |it: &Leg| {
        let arrival = &arrivals[it.stream][it.hop];
        Some(Sporadic { jitter: arrival.greatest?.saturating_sub(arrival.least), ..it.frame })
    };
    let others = || legs.iter().filter(|it| it.stream != leg.stream);
    let higher = others().filter(|it| it.priority >= leg.priority).map(late).collect::<Option<Vec<_>>>()?;
    // A job that blocks counts C − 1 there; here it may start at the same instant.
    let lower = others().filter(|it| it.priority < leg.priority).map(|it| it.frame.execution).chain([other]);
    let lower: Vec<Sporadic> =
        lower.map(|c| Sporadic::implicit(add(c, Duration::from_nanos(1)), Duration::MAX)).collect();
    nonpreemptive_fp::response(&late(leg)?, &higher, &lower, &mut Effort::default())
}

fn add(a: Duration, b: Duration) -> Duration {
    a.checked_add(b).unwrap_or(Duration::MAX)
}

fn overloads(senders: &[Vec<Leg>]) -> Vec<Overloaded> {
    let of = |(node, legs): (usize, &Vec<Leg>)| {
        overloaded(legs.iter().map(|it| &it.frame)).then(|| Overloaded {
            node,
            millionths: Utilisation::of(legs.iter().map(|it| (it.frame.execution, it.frame.period))).millionths(),
            streams: legs.iter().map(|it| it.stream).collect(),
        })
    };
    senders.iter().enumerate().filter_map(of).collect()
}

fn paths(stream: &Stream, tree: &Tree, arrivals: &[Arrival]) -> Vec<Path> {
    let of = |(at, arrival): (usize, &Arrival)| {
        let hop = &tree.hops[at];
        let loses = tree.loses(at);
        let later = if loses { stream.last_frame() } else { Duration::ZERO };
        let bound = arrival.greatest.map(|greatest| add(greatest, later));
        hop.receives.then_some(Path { to: hop.node, hops: hop.hops, least: arrival.least, bound, loses })
    };
    arrivals.iter().enumerate().filter_map(of).collect()
}
