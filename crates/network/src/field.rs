//! A network of nodes in simulation: who hears whom, what comes when, and the run, in which every node is the state machine that a
//! machine would have. The same network and seed give the same run.

pub mod data;

use crate::frame::{Name, NodeId, Package, Version};
use crate::host::{Occupied, Slots};
use crate::node::{Effect, Node, Refused, Settings};
use crate::refusals::Refusal;
use crate::scope::Description;
use crate::sender::Urgency;
use crate::stream::Stream;
use alloc::collections::BinaryHeap;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cmp::Reverse;
use data::{Data, DataRun};
use tactus_time::{Duration, Instant};

/// A node hears another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// Who hears.
    pub to: usize,
    /// From the end of a frame to its arrival.
    pub delay: Duration,
    /// Frames of a million that are lost.
    pub loss: u32,
}

/// A node and when it is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// What it says of itself.
    pub description: Description,
    /// When it comes,
    pub comes: Instant,
    /// and when it goes: what it has is lost.
    pub goes: Instant,
    /// Who hears it.
    pub links: Vec<Link>,
    /// Where it can host something; without them it hosts everything.
    pub slots: Option<Slots>,
    /// The longest that it takes from the arrival, or the release, of data until it waits for the sender or is there for its receiver.
    pub forward: Duration,
}

/// An owner hands over a version of an application.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// When,
    pub time: Instant,
    /// at which node.
    pub node: usize,
    /// What it is.
    pub package: Package,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A network, and what happens to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// What is the same at all nodes.
    pub settings: Settings,
    /// Time of a byte on the air or on the wire.
    pub byte: Duration,
    /// All nodes.
    pub members: Vec<Member>,
    /// What is delivered, in the order of time.
    pub deliveries: Vec<Delivery>,
    /// What is sent again and again.
    pub streams: Vec<Stream>,
    /// How long it is watched.
    pub duration: Duration,
    /// All chance grows from it.
    pub seed: u64,
}

/// What happened at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// It hosts a version from now on.
    Installed(Name, Version),
    /// It hosts it no longer.
    Removed(Name, Version),
    /// It has no room for it.
    NoRoom(Name, Version),
    /// What was delivered was refused.
    Refused(Name, Version, Refused),
    /// It is in scope, and its slots do not admit it.
    NotAdmitted(Name, Version, Refusal),
    /// Its owner's node knows that a node does not host it, and why.
    Reported(Name, Version, usize, Refusal),
}

/// What one node sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sent {
    /// Frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// When, at which node, what, in the order of time.
    pub events: Vec<(Instant, usize, Happened)>,
    /// By node.
    pub sent: Vec<Sent>,
    /// Frames that arrived.
    pub received: u64,
    /// Frames that were lost on a link.
    pub lost: u64,
    /// What nodes host at the end, with its bytes as they have them.
    pub hosted: Vec<(usize, Name, Version, Vec<u8>)>,
    /// What became of data.
    pub data: DataRun,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Next {
    Goes(usize),
    Comes(usize),
    Delivered(usize),
    Arrives(usize, Rc<[u8]>),
    /// A package is loaded, its node having been there since.
    Loaded(usize, Name, Version),
    Wakes(usize),
    /// A stream's period starts.
    Period(usize, Instant),
    /// A program publishes the message of the period that started then.
    Published(usize, Instant),
    /// A frame of data has come, and was forwarded.
    DataArrives(usize, Rc<[u8]>),
    /// A frame of a message is due.
    DataWakes(usize),
    /// A node that sends data is through with a frame.
    Sent(usize),
}

struct Running<'a> {
    field: &'a Field,
    nodes: Vec<Option<Node>>,
    wakes: Vec<Instant>,
    /// Until when each sends.
    busy: Vec<Instant>,
    occupied: Vec<Occupied>,
    /// Until when the loader of each is busy.
    loading: Vec<Instant>,
    queue: BinaryHeap<Reverse<(Instant, u64, Next)>>,
    serial: u64,
    random: u64,
    data: Data,
    run: Run,
}

impl Field {
    /// Lets it run.
    pub fn run(&self) -> Run {
        let many = self.members.len();
        let mut it = Running {
            field: self,
            nodes: (0..many).map(|_| None).collect(),
            wakes: alloc::vec![Instant::NEVER; many],
            busy: alloc::vec![Instant::ZERO; many],
            occupied: alloc::vec![Occupied::default(); many],
            loading: alloc::vec![Instant::ZERO; many],
            queue: BinaryHeap::new(),
            serial: 0,
            random: self.seed,
            data: Data::new(many),
            run: Run { sent: alloc::vec![Sent::default(); many], ..Run::default() },
        };
        for (n, member) in self.members.iter().enumerate() {
            it.push(member.comes, Next::Comes(n));
            it.push(member.goes, Next::Goes(n));
        }
        for (n, delivery) in self.deliveries.iter().enumerate() {
            it.push(delivery.time, Next::Delivered(n));
        }
        if !self.streams.is_empty() {
            it.start_data();
        }
        let end = Instant::ZERO.saturating_add(self.duration);
        while let Some(Reverse((now, _, next))) = it.queue.pop().filter(|Reverse((now, ..))| *now < end) {
            it.step(now, next);
        }
        for (n, node) in it.nodes.iter().enumerate().filter_map(|(n, node)| Some((n, node.as_ref()?))) {
            let bytes = |app| node.bytes(app).unwrap_or_default().to_vec();
            it.run.hosted.extend(node.hosts().map(|(app, version)| (n, app, version, bytes(app))));
        }
        it.run
    }
}

impl Running<'_> {
    fn push(&mut self, time: Instant, next: Next) {
        if time < Instant::NEVER {
            self.serial += 1;
            self.queue.push(Reverse((time, self.serial, next)));
        }
    }
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    fn step(&mut self, now: Instant, next: Next) {
        match next {
            Next::Comes(n) => {
                let member = &self.field.members[n];
                let (id, seed) = (NodeId(n as u32), self.field.seed);
                self.occupied[n] = Occupied::new(member.slots.as_ref().map_or(0, |it| it.names.len()));
                self.nodes[n] = Some(Node::new(id, member.description.clone(), self.field.settings, seed));
                self.data_comes(n);
                self.with(now, n, |node, put| node.start(put));
            }
            Next::Goes(n) => {
                self.data_goes(n);
                self.nodes[n] = None;
                self.wakes[n] = Instant::NEVER;
            }
            Next::Delivered(k) => {
                let it = &self.field.deliveries[k];
                let (app, version) = (it.package.app, it.package.version);
                let mut refused = None;
                self.with(now, it.node, |node, put| {
                    refused = node.deliver(now, it.package.clone(), &it.bytes, put).err();
                });
                self.run.events.extend(refused.map(|why| (now, it.node, Happened::Refused(app, version, why))));
            }
            Next::Arrives(n, bytes) => {
                self.run.received += u64::from(self.nodes[n].is_some());
                self.with(now, n, |node, put| {
                    // Nobody sends what is none here.
                    let _ = node.receive(now, &bytes, put);
                });
            }
            Next::Loaded(n, app, version) => {
                let mut settled = true;
                self.with(now, n, |node, put| settled = node.settle(now, (app, version), Ok(()), put));
                if !settled {
                    self.occupied[n].free(app, version);
                }
            }
            Next::Wakes(n) => {
                // Others are of times before something else was due.
                if self.wakes[n] == now {
                    self.wakes[n] = Instant::NEVER;
                    self.with(now, n, |node, put| node.advance(now, put));
                }
            }
            Next::Period(stream, start) => self.period(start, stream),
            Next::Published(stream, period) => self.published(now, stream, period),
            Next::DataArrives(n, bytes) => {
                self.run.received += u64::from(self.nodes[n].is_some());
                self.data_arrives(now, n, &bytes);
            }
            Next::DataWakes(n) => self.data_wakes(now, n),
            Next::Sent(n) => self.send_next(now, n),
        }
    }

    /// Lets a node that is there do something, and takes what it does.
    fn with(&mut self, now: Instant, n: usize, act: impl FnOnce(&mut Node, &mut dyn FnMut(Effect<'_>))) {
        let Some(mut node) = self.nodes[n].take() else { return };
        let mut whole = Vec::new();
        act(&mut node, &mut |effect| self.take(now, n, effect, &mut whole));
        for (app, version) in whole {
            let slots = self.field.members[n].slots.as_ref();
            let admission = match slots.map(|slots| self.occupied[n].take(slots, app, version)) {
                Some(Ok((_, time))) => {
                    let loaded = self.loading[n].max(now).saturating_add(time);
                    self.loading[n] = loaded;
                    self.push(loaded, Next::Loaded(n, app, version));
                    continue;
                }
                Some(Err(refusal)) => {
                    self.run.events.push((now, n, Happened::NotAdmitted(app, version, refusal)));
                    Err(refusal)
                }
                None => Ok(()),
            };
            node.settle(now, (app, version), admission, &mut |effect| self.take(now, n, effect, &mut Vec::new()));
        }
        let next = node.next().max(now);
        self.nodes[n] = Some(node);
        if next < self.wakes[n] {
            self.wakes[n] = next;
            self.push(next, Next::Wakes(n));
        }
    }

    /// Takes what a node does; what it has whole is to be settled.
    fn take(&mut self, now: Instant, n: usize, effect: Effect<'_>, whole: &mut Vec<(Name, Version)>) {
        let what = match effect {
            Effect::Send(bytes) => return self.send(now, n, bytes),
            Effect::Whole(app, version) => return whole.push((app, version)),
            Effect::Installed(app, version) => {
                self.data_of(n, app, true);
                Happened::Installed(app, version)
            }
            Effect::Removed(app, version) => {
                self.data_of(n, app, false);
                self.occupied[n].free(app, version);
                Happened::Removed(app, version)
            }
            Effect::NoRoom(app, version) => Happened::NoRoom(app, version),
            Effect::Reported(app, version, node, refusal) => Happened::Reported(app, version, node.0 as usize, refusal),
        };
        self.run.events.push((now, n, what));
    }

    fn send(&mut self, now: Instant, n: usize, bytes: &[u8]) {
        let bytes: Rc<[u8]> = bytes.into();
        if self.sends_data(n) {
            return self.wait(now, n, Urgency::Other, bytes);
        }
        let end = self.busy[n].max(now).saturating_add(self.on_the_wire(bytes.len()));
        self.busy[n] = end;
        self.count(n, bytes.len());
        let field = self.field;
        for link in &field.members[n].links {
            if !self.is_lost(link) {
                self.push(end.saturating_add(link.delay), Next::Arrives(link.to, bytes.clone()));
            }
        }
    }

    fn on_the_wire(&self, bytes: usize) -> Duration {
        self.field.byte.checked_mul(bytes as u64).unwrap_or(Duration::MAX)
    }
    fn count(&mut self, n: usize, bytes: usize) {
        let sent = &mut self.run.sent[n];
        (sent.frames, sent.bytes) = (sent.frames + 1, sent.bytes + bytes as u64);
    }
    /// Whether a link loses the next frame.
    fn is_lost(&mut self, link: &Link) -> bool {
        let lost = link.loss > 0 && self.draw() % 1_000_000 < u64::from(link.loss);
        self.run.lost += u64::from(lost);
        lost
    }
}
