//! The exchange plane: all that goes in and out of a node. In each of its jobs it takes some frames from its network card, does what the
//! node's state machine says (`tactus-network`, the same that simulations have), hands some of a package to the loader, and sends a frame.
//!
//! It decides nothing about what is hosted: the loader judges each package by the slots, and what it answers is what other nodes are
//! told. On the console it says what became of each package, which the host reads.
//!
//! Data goes the same way: programs publish and take it by two services ([`lines`]), and the state machines that simulations have do the rest.
//! Of frames that wait the most urgent is sent, one in each job; all that is not data comes last. After set-up no message takes memory.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

mod handover;
mod lines;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt::Write;
use handover::{Answer, Handover};
use lines::{publish, take, Lines, Tells};
use tactus_network::exchange::{DataEffect, Exchange, Rejected};
use tactus_network::field::data::checksum;
use tactus_network::frame::{Frame, Name, Version};
use tactus_network::node::{Effect, Node};
use tactus_network::sender::{SendQueue, Urgency};
use tactus_network::setup::{Handed, Setup};
use tactus_rt::virtio::NetworkCard;
use tactus_rt::{calls, cards, now, Console, Job, Single};
use tactus_time::Instant;

tactus_rt::component! { job: work, services: [], wide: [publish, take] }

/// Frames that are taken in a job.
const AT_ONCE: usize = 8;
/// Frames that wait to be sent; of more the least urgent is lost, as on the way.
const MOST_WAITING: usize = 64;
/// The longest frame, as the card holds it, with its header.
const LONGEST: usize = 2_048;
/// Buffers of the card.
const BUFFERS: usize = 16;
/// To all, from somebody; a type that is kept for experiments; then the length of the frame, in two bytes.
const HEADER: [u8; 14] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0x88, 0xb5];

static PLANE: Single<Plane> = Single::new();

fn work(_: &Job) {
    PLANE.with_first(Plane::new, Plane::step);
}

struct Plane {
    plane: Parts,
    card: NetworkCard<BUFFERS>,
    deliveries: VecDeque<Handed>,
    loader: Handover,
    /// The frame that the card is given.
    wire: Vec<u8>,
}

/// The state machines, and what waits for the card.
struct Parts {
    node: Node,
    exchange: Exchange,
    lines: Lines,
    out: SendQueue,
    /// What the node did that others are to be told of.
    did: Vec<Did>,
}

/// What a node did beside sending.
enum Did {
    Whole(Name, Version),
    Removed(Name, Version),
}

fn give_up(why: &str) -> ! {
    let _ = writeln!(Console, "{why}");
    calls::give_up()
}

/// A line with the time.
fn say(what: core::fmt::Arguments<'_>) {
    let _ = writeln!(Console, "{} {what}", now().as_nanos());
}

fn tell(what: Tells) {
    match what {
        Tells::Took(stream, sequence, checksum) => say(format_args!("took {stream} {sequence} {checksum:x}")),
        Tells::NoRoom(stream, sequence) => say(format_args!("no-queue {stream} {sequence}")),
    }
}

impl Parts {
    /// Lets the node do something, and takes what it does.
    fn with(&mut self, act: impl FnOnce(&mut Node, &mut dyn FnMut(Effect<'_>))) {
        let Parts { node, exchange, lines, out, did } = self;
        act(node, &mut |effect| match effect {
            Effect::Send(bytes) => out.push(Urgency::Other, bytes),
            Effect::Whole(app, version) => did.push(Did::Whole(app, version)),
            Effect::Removed(app, version) => {
                exchange.hosts(app, false);
                lines.ends(app, &mut tell);
                say(format_args!("ends {} {}", app.as_str(), version.0));
                did.push(Did::Removed(app, version));
            }
            Effect::Installed(app, version) => {
                say(format_args!("hosts {} {}", app.as_str(), version.0));
            }
            Effect::NoRoom(app, version) => {
                say(format_args!("no-room {} {}", app.as_str(), version.0));
            }
            Effect::Reported(app, version, node, why) => {
                let task = why.task.map_or(-1, i32::from);
                say(format_args!("told {} {} {} {} {task}", app.as_str(), version.0, node.0, why.reason));
            }
        });
    }

    /// A frame has come. Whatever is none changes nothing.
    fn heard(&mut self, now: Instant, bytes: &[u8]) {
        let Ok((sender, Frame::Data { stream, sequence, repetition, bytes })) = Frame::read(bytes) else {
            return self.with(|node, put| _ = node.receive(now, bytes, put));
        };
        let Parts { exchange, lines, out, .. } = self;
        exchange.receive(sender, (stream, sequence, repetition), bytes, &mut |effect| match effect {
            DataEffect::Send { priority, frame } => out.push(Urgency::Data(priority), frame),
            DataEffect::Receive { stream, sequence, bytes } => lines.came((stream, sequence), bytes, &mut tell),
        });
    }

    /// Takes what programs have published, and lets what is due be sent.
    fn data(&mut self, now: Instant) {
        let Parts { exchange, lines, out, .. } = self;
        let mut put = |effect: DataEffect<'_>| {
            if let DataEffect::Send { priority, frame } = effect {
                out.push(Urgency::Data(priority), frame);
            }
        };
        lines.tell(&mut tell);
        lines.published(|stream, bytes| match exchange.publish(now, stream, bytes, &mut put) {
            Ok(sequence) => say(format_args!("sent {stream} {sequence} {:x}", checksum(bytes))),
            // Of a program that has ended.
            Err(Rejected::NotHosted) => {}
            Err(_) => say(format_args!("rejects {stream} 0")),
        });
        exchange.advance(now, &mut put);
    }
}

impl Plane {
    fn new() -> Plane {
        let Ok(setup) = Setup::decode(cards::told()) else {
            give_up("its image tells of no network: run a network file")
        };
        let Some(mut card) = NetworkCard::open() else { give_up("it drives no virtio-net card") };
        (0..BUFFERS as u16).for_each(|number| _ = card.give(number));
        let Some(loader) = Handover::open() else { give_up("it has no channels \"packages\" and \"hosted\"") };
        let exchange = Exchange::new(setup.id, setup.parts.iter().map(|it| it.role.clone()));
        let Some(lines) = Lines::new(setup.parts, &setup.slots) else { give_up("it has too many parts of data") };
        let node = Node::new(setup.id, setup.description, setup.settings, setup.seed);
        let out = SendQueue::new(MOST_WAITING, LONGEST - HEADER.len() - 2);
        let mut plane = Parts { node, exchange, lines, out, did: Vec::new() };
        plane.with(|node, put| node.start(put));
        Plane { plane, card, deliveries: setup.deliveries.into(), loader, wire: Vec::with_capacity(LONGEST) }
    }

    fn step(&mut self) {
        let now = now();
        self.settle(now);
        for _ in 0..AT_ONCE {
            let Plane { plane, card, .. } = self;
            let came = card.receive(|bytes| {
                let length = bytes.get(14..16).map(|it| usize::from(u16::from_be_bytes([it[0], it[1]])))?;
                let ours = bytes.get(12..14) == HEADER.get(12..14);
                plane.heard(now, bytes.get(16..16 + length).filter(|_| ours)?);
                Some(())
            });
            if came.is_none() {
                break;
            }
        }
        if self.deliveries.front().is_some_and(|it| it.time <= now) {
            if let Some(Handed { package, bytes, .. }) = self.deliveries.pop_front() {
                let (app, version) = (package.app, package.version);
                let mut refused = false;
                self.plane.with(|node, put| refused = node.deliver(now, package, &bytes, put).is_err());
                let word = if refused { "known" } else { "delivered" };
                say(format_args!("{word} {} {}", app.as_str(), version.0));
            }
        }
        self.plane.data(now);
        self.plane.with(|node, put| node.advance(now, put));
        for did in core::mem::take(&mut self.plane.did) {
            match did {
                Did::Whole(app, version) => self.loader.host(app, version),
                Did::Removed(app, version) => self.loader.end(app, version),
            }
        }
        self.loader.hand(|app| self.plane.node.bytes(app));
        self.send();
    }

    /// Takes what the loader has answered.
    fn settle(&mut self, now: Instant) {
        let Some(answer) = self.loader.answer() else { return };
        match answer {
            Answer::Hosted { app, version, slot } => {
                let mut settled = false;
                self.plane.with(|node, put| settled = node.settle(now, (app, version), Ok(()), put));
                if settled {
                    self.plane.exchange.hosts(app, true);
                    self.plane.lines.begins(app, slot);
                } else {
                    // A newer version or a removal came meanwhile.
                    self.loader.end(app, version);
                }
            }
            Answer::Refused { app, version, why } => {
                let task = why.task.map_or(-1, i32::from);
                say(format_args!("refuses {} {} {} {task}", app.as_str(), version.0, why.reason));
                self.plane.with(|node, put| _ = node.settle(now, (app, version), Err(why), put));
            }
        }
    }

    fn send(&mut self) {
        if !self.card.is_free() {
            return;
        }
        let Plane { plane, card, wire, .. } = self;
        plane.out.pop(|frame| {
            wire.clear();
            wire.extend_from_slice(&HEADER);
            wire.extend_from_slice(&(frame.len() as u16).to_be_bytes());
            wire.extend_from_slice(frame);
            let _ = card.send(wire);
        });
    }
}
