//! The exchange plane: all that goes in and out of a node. In each of its jobs it takes some frames from its network card, does what the
//! node's state machine says (`tactus-network`, the same that simulations have), hands some of a package to the loader, and sends a frame.
//!
//! It decides nothing about what is hosted: the loader judges each package by the slots, and what it answers is what other nodes are
//! told. On the console it says what became of each package, which the host reads.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

extern crate alloc;

mod handover;

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt::Write;
use handover::{Answer, Handover};
use tactus_network::frame::{Name, Version};
use tactus_network::node::{Effect, Node};
use tactus_network::setup::{Handed, Setup};
use tactus_rt::virtio::NetworkCard;
use tactus_rt::{calls, cards, now, Console, Job, Single};
use tactus_time::Instant;

tactus_rt::component! { job: work, services: [] }

/// Frames that are taken in a job.
const AT_ONCE: usize = 8;
/// Frames that wait to be sent; what comes beyond is lost, as on the way.
const MOST_WAITING: usize = 64;
/// Buffers of the card.
const BUFFERS: usize = 16;
/// To all, from somebody; a type that is kept for experiments; then the length of the frame, in two bytes.
const HEADER: [u8; 14] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0x88, 0xb5];

static PLANE: Single<Plane> = Single::new();

fn work(_: &Job) {
    PLANE.with_first(Plane::new, Plane::step);
}

struct Plane {
    node: Node,
    card: NetworkCard<BUFFERS>,
    deliveries: VecDeque<Handed>,
    loader: Handover,
    out: VecDeque<Vec<u8>>,
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

impl Plane {
    fn new() -> Plane {
        let Ok(setup) = Setup::decode(cards::told()) else {
            give_up("its image tells of no network: run a network file")
        };
        let Some(mut card) = NetworkCard::open() else { give_up("it drives no virtio-net card") };
        (0..BUFFERS as u16).for_each(|number| _ = card.give(number));
        let Some(loader) = Handover::open() else { give_up("it has no channels \"packages\" and \"hosted\"") };
        let node = Node::new(setup.id, setup.description, setup.settings, setup.seed);
        let mut plane =
            Plane { node, card, deliveries: setup.deliveries.into(), loader, out: VecDeque::new(), did: Vec::new() };
        plane.with(|node, put| node.start(put));
        plane
    }

    /// Lets the node do something, and takes what it does.
    fn with(&mut self, act: impl FnOnce(&mut Node, &mut dyn FnMut(Effect<'_>))) {
        let Plane { node, out, did, .. } = self;
        act(node, &mut |effect| match effect {
            Effect::Send(bytes) if out.len() < MOST_WAITING => out.push_back(bytes.to_vec()),
            Effect::Send(_) => {}
            Effect::Whole(app, version) => did.push(Did::Whole(app, version)),
            Effect::Removed(app, version) => did.push(Did::Removed(app, version)),
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

    fn step(&mut self) {
        let now = now();
        self.settle(now);
        for _ in 0..AT_ONCE {
            let frame = self.card.receive(|bytes| {
                let length = bytes.get(14..16).map(|it| usize::from(u16::from_be_bytes([it[0], it[1]])))?;
                let ours = bytes.get(12..14) == HEADER.get(12..14);
                bytes.get(16..16 + length).filter(|_| ours).map(<[u8]>::to_vec)
            });
            let Some(frame) = frame else { break };
            // Whatever is no frame changes nothing.
            let Some(frame) = frame else { continue };
            self.with(|node, put| _ = node.receive(now, &frame, put));
        }
        if self.deliveries.front().is_some_and(|it| it.time <= now) {
            if let Some(Handed { package, bytes, .. }) = self.deliveries.pop_front() {
                let (app, version) = (package.app, package.version);
                let mut refused = false;
                self.with(|node, put| refused = node.deliver(now, package, &bytes, put).is_err());
                let word = if refused { "known" } else { "delivered" };
                say(format_args!("{word} {} {}", app.as_str(), version.0));
            }
        }
        self.with(|node, put| node.advance(now, put));
        for did in core::mem::take(&mut self.did) {
            match did {
                Did::Whole(app, version) => self.loader.host(app, version),
                Did::Removed(app, version) => self.ended(app, version),
            }
        }
        self.loader.hand(|app| self.node.bytes(app));
        self.send();
    }

    /// Takes what the loader has answered.
    fn settle(&mut self, now: Instant) {
        let Some(answer) = self.loader.answer() else { return };
        match answer {
            Answer::Hosted { app, version } => {
                let mut settled = false;
                self.with(|node, put| settled = node.settle(now, (app, version), Ok(()), put));
                if !settled {
                    // A newer version or a removal came meanwhile.
                    self.ended(app, version);
                }
            }
            Answer::Refused { app, version, why } => {
                let task = why.task.map_or(-1, i32::from);
                say(format_args!("refuses {} {} {} {task}", app.as_str(), version.0, why.reason));
                self.with(|node, put| _ = node.settle(now, (app, version), Err(why), put));
            }
        }
    }

    fn ended(&mut self, app: Name, version: Version) {
        say(format_args!("ends {} {}", app.as_str(), version.0));
        self.loader.end(app, version);
    }

    fn send(&mut self) {
        if !self.card.is_free() {
            return;
        }
        let Some(frame) = self.out.pop_front() else { return };
        let mut bytes = Vec::with_capacity(16 + frame.len());
        bytes.extend_from_slice(&HEADER);
        bytes.extend_from_slice(&(frame.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&frame);
        let _ = self.card.send(&bytes);
    }
}
