//! Data in a simulated network: programs that publish, senders with priorities, and what came to whom.
//!
//! Where it may choose when something happens, it often takes the earliest or the latest time, since bounds are reached there.

use super::{Field, Next, Running};
use crate::exchange::{DataEffect, Exchange, Rejected, Role};
use crate::frame::{Frame, Name, NodeId};
use crate::sender::{Sender, Urgency};
use crate::stream::Stream;
use crate::tree::Tree;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// A message that was published.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Published {
    /// Of which stream.
    pub stream: usize,
    /// Which, as its sender numbers them.
    pub sequence: u32,
    /// The start of its period.
    pub period: Instant,
}

/// A message that was there for a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Of which stream.
    pub stream: usize,
    /// Which.
    pub sequence: u32,
    /// Where.
    pub node: usize,
    /// When.
    pub time: Instant,
    /// [`checksum`] of its bytes.
    pub checksum: u64,
}

/// What became of data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DataRun {
    /// In the order of time.
    pub published: Vec<Published>,
    /// In the order of time.
    pub received: Vec<Received>,
    /// Frames that were lost on the way to a node that would have taken them: stream, message, repetition, node.
    pub lost: Vec<(usize, u32, u8, usize)>,
    /// Messages that were refused: stream, and the start of the period.
    pub refused: Vec<(usize, Instant)>,
}

/// A number that differs where the bytes do, but for one in 2^64 (FNV-1a).
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The message that a simulated program publishes.
pub fn message(stream: usize, sequence: u32, bytes: u16) -> Vec<u8> {
    let mut state = (stream as u64) << 32 ^ u64::from(sequence);
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| draw()).collect()
}

/// A frame that waits, and which part of which stream's it is.
type Waiting = (Rc<[u8]>, bool);

/// The data of all nodes.
#[derive(Default)]
pub(super) struct Data {
    /// By node, while it is there.
    exchanges: Vec<Option<Exchange>>,
    /// By node that sends data.
    senders: Vec<Option<Sender<Waiting>>>,
    sending: Vec<bool>,
    /// By node and stream, when the last frame was forwarded: none overtakes one before.
    forwarded: BTreeMap<(usize, usize), Instant>,
    /// By node and stream, whose frames it takes.
    parents: BTreeMap<(usize, usize), usize>,
    wakes: Vec<Instant>,
    /// By node, what it has to do.
    roles: Vec<Vec<Role>>,
    /// By stream, how many messages were published.
    messages: Vec<u32>,
}

impl Data {
    pub(super) fn new(many: usize) -> Data {
        Data {
            exchanges: (0..many).map(|_| None).collect(),
            senders: (0..many).map(|_| None).collect(),
            sending: alloc::vec![false; many],
            wakes: alloc::vec![Instant::NEVER; many],
            ..Data::default()
        }
    }
}

impl Running<'_> {
    /// Starts all streams.
    pub(super) fn start_data(&mut self) {
        let trees = self.field.trees();
        for (stream, tree) in trees.iter().enumerate() {
            for hop in &tree.hops {
                if hop.relays {
                    self.data.senders[hop.node].get_or_insert_default();
                }
                if hop.hops > 0 {
                    self.data.parents.insert((hop.node, stream), tree.hops[hop.parent].node);
                }
            }
        }
        self.data.roles = roles(self.field, &trees);
        self.data.messages = alloc::vec![0; trees.len()];
        for (n, stream) in self.field.streams.iter().enumerate() {
            let drawn = Duration::from_nanos(self.draw() % stream.period.as_nanos());
            let start = stream.start.unwrap_or(Instant::ZERO + drawn);
            self.push(start, Next::Period(n, start));
        }
    }

    pub(super) fn data_comes(&mut self, n: usize) {
        if self.data.roles.get(n).is_some_and(|it| !it.is_empty()) {
            self.data.exchanges[n] = Some(Exchange::new(NodeId(n as u32), self.data.roles[n].iter().cloned()));
        }
    }

    /// It hosts an application from now on, or no longer.
    pub(super) fn data_of(&mut self, n: usize, app: Name, whether: bool) {
        if let Some(exchange) = &mut self.data.exchanges[n] {
            exchange.hosts(app, whether);
        }
    }

    /// It is gone, and with it all that waits in it.
    pub(super) fn data_goes(&mut self, n: usize) {
        self.data.exchanges[n] = None;
        if let Some(sender) = &mut self.data.senders[n] {
            *sender = Sender::default();
        }
    }

    /// A time up to this one, often the first or the last.
    fn up_to(&mut self, most: Duration) -> Duration {
        match self.draw() % 4 {
            _ if most.is_zero() => Duration::ZERO,
            0 => Duration::ZERO,
            1 => most,
            _ => Duration::from_nanos(self.draw() % (most.as_nanos() + 1)),
        }
    }

    /// When something that comes now to a node has been forwarded there.
    fn forwarded(&mut self, n: usize, stream: usize, time: Instant) -> Instant {
        let forward = self.up_to(self.field.members[n].forward);
        let last = self.data.forwarded.entry((n, stream)).or_insert(Instant::ZERO);
        *last = (*last).max(time.saturating_add(forward));
        *last
    }

    /// A period of a stream starts.
    pub(super) fn period(&mut self, now: Instant, n: usize) {
        let Stream { from, period, jitter, .. } = self.field.streams[n];
        let released = now.saturating_add(self.up_to(jitter));
        let waits = self.forwarded(from, n, released);
        self.push(waits, Next::Published(n, now));
        let next = now.saturating_add(period);
        self.push(next, Next::Period(n, next));
    }

    /// A program's message of the period that started then comes to the exchange of its node.
    pub(super) fn published(&mut self, now: Instant, stream: usize, period: Instant) {
        let Stream { from, bytes, .. } = self.field.streams[stream];
        let sequence = self.data.messages[stream];
        let message = message(stream, sequence, bytes);
        let mut published = None;
        self.with_exchange(now, from, |exchange, put| {
            published = Some(exchange.publish(now, stream as u16, &message, put));
        });
        match published {
            Some(Ok(sequence)) => {
                self.data.messages[stream] += 1;
                self.run.data.published.push(Published { stream, sequence, period });
            }
            // Its node is not there, or has no such program.
            None | Some(Err(Rejected::NotHosted)) => {}
            Some(Err(_)) => self.run.data.refused.push((stream, period)),
        }
    }

    /// A frame has come, and has been forwarded, if it is of a stream of which this node has a part.
    pub(super) fn data_arrives(&mut self, now: Instant, n: usize, bytes: &[u8]) {
        let Ok((sender, Frame::Data { stream, sequence, repetition, bytes })) = Frame::read(bytes) else { return };
        self.with_exchange(now, n, |exchange, put| {
            exchange.receive(sender, (stream, sequence, repetition), bytes, put);
        });
    }

    /// What is due is sent.
    pub(super) fn data_wakes(&mut self, now: Instant, n: usize) {
        if self.data.wakes[n] == now {
            self.data.wakes[n] = Instant::NEVER;
            self.with_exchange(now, n, |exchange, put| exchange.advance(now, put));
        }
    }

    fn with_exchange(
        &mut self,
        now: Instant,
        n: usize,
        act: impl FnOnce(&mut Exchange, &mut dyn FnMut(DataEffect<'_>)),
    ) {
        let Some(mut exchange) = self.data.exchanges[n].take() else { return };
        act(&mut exchange, &mut |effect| match effect {
            DataEffect::Send { priority, frame } => self.wait(now, n, Urgency::Data(priority), frame.into()),
            DataEffect::Receive { stream, sequence, bytes } => {
                let stream = stream.into();
                self.run.data.received.push(Received {
                    stream,
                    sequence,
                    node: n,
                    time: now,
                    checksum: checksum(bytes),
                });
            }
        });
        let next = exchange.next();
        self.data.exchanges[n] = Some(exchange);
        if next < self.data.wakes[n] {
            self.data.wakes[n] = next;
            self.push(next, Next::DataWakes(n));
        }
    }

    /// Whether a node sends data, so that its frames wait for each other by their urgency.
    pub(super) fn sends_data(&self, n: usize) -> bool {
        self.data.senders[n].is_some()
    }

    /// A frame waits for its node's sender.
    pub(super) fn wait(&mut self, now: Instant, n: usize, urgency: Urgency, frame: Rc<[u8]>) {
        let Some(sender) = &mut self.data.senders[n] else { return };
        sender.push(urgency, (frame, urgency != Urgency::Other));
        if !self.data.sending[n] {
            self.send_next(now, n);
        }
    }

    /// The sender of a node takes its next frame.
    pub(super) fn send_next(&mut self, now: Instant, n: usize) {
        let next = self.data.senders[n].as_mut().and_then(Sender::pop);
        self.data.sending[n] = next.is_some();
        let Some((frame, is_data)) = next else { return };
        let end = now.saturating_add(self.on_the_wire(frame.len()));
        self.count(n, frame.len());
        let of = match Frame::read(&frame) {
            Ok((_, Frame::Data { stream, sequence, repetition, .. })) if is_data => {
                Some((stream.into(), sequence, repetition))
            }
            _ => None,
        };
        let field = self.field;
        for link in &field.members[n].links {
            let lost = self.is_lost(link);
            let arrives = end.saturating_add(link.delay);
            match of {
                None if lost => {}
                None => self.push(arrives, Next::Arrives(link.to, frame.clone())),
                // Who hears it and takes it from somebody else, or not at all, takes nothing from it.
                Some((stream, sequence, repetition)) if lost => {
                    if self.data.parents.get(&(link.to, stream)) == Some(&n) {
                        self.run.data.lost.push((stream, sequence, repetition, link.to));
                    }
                }
                Some((stream, ..)) => {
                    let takes = self.data.parents.get(&(link.to, stream)) == Some(&n);
                    let time = if takes { self.forwarded(link.to, stream, arrives) } else { arrives };
                    self.push(time, Next::DataArrives(link.to, frame.clone()));
                }
            }
        }
        self.push(end, Next::Sent(n));
    }
}

/// What each node has to do with the streams whose trees these are.
pub fn roles(field: &Field, trees: &[Tree]) -> Vec<Vec<Role>> {
    let mut all: Vec<Vec<Role>> = field.members.iter().map(|_| Vec::new()).collect();
    for (n, (stream, tree)) in field.streams.iter().zip(trees).enumerate() {
        for (at, hop) in tree.hops.iter().enumerate() {
            all[hop.node].push(Role {
                stream: n as u16,
                application: stream.application,
                parent: (at > 0).then(|| NodeId(tree.hops[hop.parent].node as u32)),
                relays: hop.relays,
                receives: hop.receives,
                priority: stream.priority,
                bytes: stream.bytes,
                period: stream.period,
                jitter: stream.jitter.checked_add(field.members[hop.node].forward).unwrap_or(Duration::MAX),
                frame_period: stream.frame_period(),
                repetitions: stream.repetitions,
            });
        }
    }
    all
}
