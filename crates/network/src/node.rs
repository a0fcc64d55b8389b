//! A node of the network: what it knows of applications, what it hosts, what it passes on.
//!
//! Whoever knows of a version tells its neighbours, by [`Trickle`]; so all within its reach come to know it, and all fall quiet. Bytes go
//! only where they are wanted: a node in scope asks the neighbour that is nearest to a whole copy, which, if it has none, asks on. So
//! nodes between keep a copy for a while and host nothing, and those that lie on no such way see offers alone. A node takes each version
//! once, however often and from wherever it comes; an older one never comes back, and that an application was removed is a version too.
//!
//! Whether a node in scope hosts what it has whole is decided by others, who know its slots, and told by [`Node::settle`]. Until then, and
//! where it is refused, it goes on with the version before. Refusals come to all who know of the version, its owner's node among them.
//!
//! Bytes are held against their digest; who sent an offer is not asked, so that whoever can send can offer a version of his own.

use crate::frame::{Frame, Malformed, Name, NodeId, Package, Version, WINDOW};
use crate::neighbours::Neighbours;
use crate::refusals::{Refusal, Refusals};
use crate::replica::Replica;
use crate::scope::Description;
use crate::trickle::{Trickle, TrickleSettings};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// What is the same at all nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// When what is known is told again.
    pub trickle: TrickleSettings,
    /// How long a node waits for chunks before it asks anew; it begins up to twice as late, at random.
    pub patience: Duration,
    /// Time from one chunk that it sends to the next.
    pub pace: Duration,
    /// How long a copy is kept for others after they have asked for it last.
    pub keep: Duration,
    /// The most applications that a node knows of.
    pub applications: usize,
    /// The largest package, in bytes.
    pub largest: u32,
}

/// What a node does.
#[derive(Debug)]
pub enum Effect<'a> {
    /// It sends a frame to whoever hears it.
    Send(&'a [u8]),
    /// It is in scope and has all bytes of this version: whether it hosts it is to be settled.
    Whole(Name, Version),
    /// It hosts this version from now on.
    Installed(Name, Version),
    /// It hosts it no longer.
    Removed(Name, Version),
    /// It has no room for what it heard of, or for its bytes.
    NoRoom(Name, Version),
    /// A node does not host what was delivered here.
    Reported(Name, Version, NodeId, Refusal),
}

/// Why nothing was delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// This version, or a newer one, is known here.
    Known(Version),
    /// The bytes are not those of the package.
    Digest,
    /// There is no room for it.
    NoRoom,
}

/// What a node knows of an application.
#[derive(Debug)]
struct Known {
    package: Package,
    encoded: Vec<u8>,
    covers: bool,
    /// It was delivered here.
    origin: bool,
    outside: u8,
    hosts: Option<Version>,
    trickle: Trickle,
    neighbours: Neighbours,
    replica: Replica,
    /// When it asks next, if it waits for chunks.
    asks: Option<Instant>,
    /// When it sends the next chunk.
    sends: Option<Instant>,
    /// Until when it keeps a copy for others.
    relays: Option<Instant>,
    refusals: Refusals,
    /// Somebody knows of others.
    reports: bool,
}

/// A node.
#[derive(Debug)]
pub struct Node {
    id: NodeId,
    description: Description,
    settings: Settings,
    random: u64,
    known: Vec<Known>,
    frame: Vec<u8>,
}

impl Node {
    /// A node that knows of nothing. It is told to ask its neighbours by [`Node::start`].
    pub fn new(id: NodeId, description: Description, settings: Settings, seed: u64) -> Node {
        let random = seed ^ (u64::from(id.0) << 32 | 0x9e37_79b9);
        let known = Vec::with_capacity(settings.applications);
        Node { id, description, settings, random, known, frame: Vec::new() }
    }
    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }
    /// What it hosts.
    pub fn hosts(&self) -> impl Iterator<Item = (Name, Version)> + '_ {
        self.known.iter().filter_map(|it| Some((it.package.app, it.hosts?)))
    }
    /// The bytes of what it hosts, or passes on; nothing if it has not all of them.
    pub fn bytes(&self, app: Name) -> Option<&[u8]> {
        self.known.iter().find(|it| it.package.app == app)?.replica.whole()
    }
    /// When something is to be done next.
    pub fn next(&self) -> Instant {
        let of = |it: &Known| {
            let others = [it.asks, it.sends, it.relays];
            others.into_iter().flatten().fold(it.trickle.next(), Instant::min)
        };
        self.known.iter().map(of).min().unwrap_or(Instant::NEVER)
    }

    /// It has come, and asks what there is.
    pub fn start(&mut self, put: &mut dyn FnMut(Effect<'_>)) {
        Frame::Solicit.write(self.id, &mut self.frame);
        put(Effect::Send(&self.frame));
    }

    /// An owner delivers a version here, or, by one that says so, removes the application.
    ///
    /// # Errors
    /// Where it is known, or damaged, or there is no room.
    pub fn deliver(
        &mut self,
        now: Instant,
        package: Package,
        bytes: &[u8],
        put: &mut dyn FnMut(Effect<'_>),
    ) -> Result<(), Refused> {
        if let Some(known) = self.known.iter().find(|it| it.package.app == package.app) {
            if known.package.version >= package.version {
                return Err(Refused::Known(known.package.version));
            }
        }
        let Some(replica) = Replica::of(&package, bytes) else { return Err(Refused::Digest) };
        let at = self.learn(now, package, 0, put).ok_or(Refused::NoRoom)?;
        let known = &mut self.known[at];
        (known.replica, known.origin) = (replica, true);
        self.completed(at, put);
        Ok(())
    }

    /// A frame has come.
    ///
    /// # Errors
    /// Where it is none.
    pub fn receive(&mut self, now: Instant, bytes: &[u8], put: &mut dyn FnMut(Effect<'_>)) -> Result<(), Malformed> {
        let (sender, frame) = Frame::read(bytes)?;
        match frame {
            Frame::Solicit => {
                for at in 0..self.known.len() {
                    let draw = self.draw();
                    self.known[at].trickle.inconsistent(&self.settings.trickle, now, draw);
                }
            }
            Frame::Offer { app, version, distance, outside, refusals, package } => {
                if self.offered(now, (sender, distance, outside), (app, version, package), put)? {
                    self.compare(now, (app, version), refusals);
                }
            }
            Frame::Request { to, app, version, first, wanted } => {
                let Some(at) = self.find(app, version) else { return Ok(()) };
                if to == self.id {
                    self.asked(now, at, first, wanted);
                } else if self.known[at].asks.is_some() && self.known[at].replica.first_missing() >= Some(first) {
                    // Who asks for as much will be answered loudly enough.
                    self.known[at].asks = Some(self.later(now));
                }
            }
            Frame::Chunk { app, version, index, bytes } => {
                let Some(at) = self.find(app, version) else { return Ok(()) };
                let again = self.later(now);
                let known = &mut self.known[at];
                if known.wants() && known.replica.put(&known.package, index, bytes) {
                    known.neighbours.answered();
                    known.asks = Some(again);
                    if self.known[at].replica.is_complete() {
                        self.verified(now, at, put);
                    }
                }
            }
            // That is for others here.
            Frame::Data { .. } => {}
            Frame::Refusals { app, version, all } => {
                let all = Refusals::read(all)?;
                for (node, refusal) in all.iter() {
                    self.refused(now, (app, version), (node, refusal), put);
                }
            }
        }
        Ok(())
    }

    /// Whoever decides about what this node hosts tells what became of a version that is whole here. Whether it still is to be hosted:
    /// a newer version or a removal may have come meanwhile.
    pub fn settle(
        &mut self,
        now: Instant,
        (app, version): (Name, Version),
        admission: Result<(), Refusal>,
        put: &mut dyn FnMut(Effect<'_>),
    ) -> bool {
        let Some(at) = self.find(app, version) else { return false };
        match admission {
            Ok(()) => {
                if let Some(old) = self.known[at].hosts.replace(version) {
                    put(Effect::Removed(app, old));
                }
                put(Effect::Installed(app, version));
            }
            Err(refusal) => self.refused(now, (app, version), (self.id, refusal), put),
        }
        true
    }

    /// Does what is due.
    pub fn advance(&mut self, now: Instant, put: &mut dyn FnMut(Effect<'_>)) {
        for at in 0..self.known.len() {
            let draw = self.draw();
            let known = &mut self.known[at];
            if known.trickle.next() <= now && known.trickle.advance(&self.settings.trickle, now, draw) {
                self.offer(at, put);
            }
            if self.known[at].sends.is_some_and(|time| time <= now) {
                self.send(now, at, put);
            }
            if self.known[at].asks.is_some_and(|time| time <= now) {
                self.ask(now, at, put);
            }
            let known = &mut self.known[at];
            if known.relays.is_some_and(|time| time <= now) {
                known.relays = None;
                if !known.covers && !known.origin {
                    (known.asks, known.sends) = (None, None);
                    known.replica.clear();
                }
            }
        }
    }

    /// A node does not host a version, and says why.
    fn refused(
        &mut self,
        now: Instant,
        (app, version): (Name, Version),
        (node, refusal): (NodeId, Refusal),
        put: &mut dyn FnMut(Effect<'_>),
    ) {
        let draw = self.draw();
        let Some(at) = self.find(app, version) else { return };
        let known = &mut self.known[at];
        if known.refusals.add(node, refusal) {
            known.reports = true;
            known.trickle.inconsistent(&self.settings.trickle, now, draw);
            if known.origin {
                put(Effect::Reported(app, version, node, refusal));
            }
        }
    }

    /// Compares the refusals of a version that somebody else knows of: where they differ both tell theirs.
    fn compare(&mut self, now: Instant, (app, version): (Name, Version), digest: u64) {
        let draw = self.draw();
        let Some(at) = self.find(app, version) else { return };
        let known = &mut self.known[at];
        if known.refusals.digest() == digest {
            known.trickle.consistent();
        } else {
            known.reports = true;
            known.trickle.inconsistent(&self.settings.trickle, now, draw);
        }
    }

    fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
    /// When patience ends that begins now.
    fn later(&mut self, now: Instant) -> Instant {
        let patience = self.settings.patience.as_nanos();
        now.saturating_add(Duration::from_nanos(patience.saturating_add(self.draw() % patience.max(1))))
    }
    fn find(&self, app: Name, version: Version) -> Option<usize> {
        self.known.iter().position(|it| it.package.app == app && it.package.version == version)
    }

    /// Makes a version known that is new here.
    fn learn(&mut self, now: Instant, package: Package, outside: u8, put: &mut dyn FnMut(Effect<'_>)) -> Option<usize> {
        let before = self.known.iter().position(|it| it.package.app == package.app);
        if package.bytes > self.settings.largest || before.is_none() && self.known.len() >= self.settings.applications {
            put(Effect::NoRoom(package.app, package.version));
            return None;
        }
        let (draw, covers) = (self.draw(), package.scope.covers(&self.description));
        let mut hosts = before.and_then(|at| self.known[at].hosts);
        // What is removed ends at once; an older version that is replaced, or that this node is no longer to host, when it is known.
        if package.removed || !covers {
            if let Some(version) = hosts.take() {
                put(Effect::Removed(package.app, version));
            }
        }
        let new = Known {
            encoded: Frame::package(&package),
            covers: covers && !package.removed,
            origin: false,
            outside: if covers { 0 } else { outside },
            hosts,
            trickle: Trickle::start(&self.settings.trickle, now, draw),
            neighbours: Neighbours::default(),
            replica: Replica::new(&package),
            asks: None,
            sends: None,
            relays: None,
            refusals: Refusals::default(),
            reports: false,
            package,
        };
        match before {
            Some(at) => self.known[at] = new,
            None => self.known.push(new),
        }
        let at = before.unwrap_or(self.known.len() - 1);
        if self.known[at].wants() {
            self.known[at].asks = Some(self.later(now));
        }
        Some(at)
    }

    /// Somebody knows of a version; whether this node knew of the same.
    fn offered(
        &mut self,
        now: Instant,
        (sender, distance, outside): (NodeId, u8, u8),
        (app, version, package): (Name, Version, &[u8]),
        put: &mut dyn FnMut(Effect<'_>),
    ) -> Result<bool, Malformed> {
        let known = self.known.iter().position(|it| it.package.app == app);
        let own = known.map(|at| self.known[at].package.version);
        let outside = outside.saturating_add(1);
        let at = match known {
            Some(at) if own > Some(version) => {
                let draw = self.draw();
                self.known[at].trickle.inconsistent(&self.settings.trickle, now, draw);
                return Ok(false);
            }
            Some(at) if own == Some(version) => {
                let it = &mut self.known[at];
                it.outside = it.outside.min(outside);
                at
            }
            _ => {
                let package = Frame::read_package(app, version, package)?;
                // Too far from the scope to tell of it; but who hosts an older version is told that it ends.
                let hosts = known.is_some_and(|at| self.known[at].hosts.is_some());
                if outside > package.radius && !package.scope.covers(&self.description) && !hosts {
                    return Ok(false);
                }
                let Some(at) = self.learn(now, package, outside, put) else { return Ok(false) };
                at
            }
        };
        self.known[at].neighbours.heard(sender, distance);
        Ok(own == Some(version))
    }

    fn offer(&mut self, at: usize, put: &mut dyn FnMut(Effect<'_>)) {
        let known = &self.known[at];
        let distance = if known.replica.is_complete() { 0 } else { known.neighbours.distance() };
        let Package { app, version, .. } = known.package;
        let (outside, refusals) = (known.outside, known.refusals.digest());
        Frame::Offer { app, version, distance, outside, refusals, package: &known.encoded }
            .write(self.id, &mut self.frame);
        put(Effect::Send(&self.frame));
        if core::mem::take(&mut self.known[at].reports) && refusals != 0 {
            let mut all = Vec::new();
            self.known[at].refusals.write(&mut all);
            Frame::Refusals { app, version, all: &all }.write(self.id, &mut self.frame);
            put(Effect::Send(&self.frame));
        }
    }

    /// Asks for the first chunks that are missing.
    fn ask(&mut self, now: Instant, at: usize, put: &mut dyn FnMut(Effect<'_>)) {
        let again = self.later(now);
        let known = &mut self.known[at];
        let Some(first) = known.replica.first_missing().filter(|_| known.wants()) else {
            known.asks = None;
            return;
        };
        known.asks = Some(again);
        let Some(to) = known.neighbours.ask() else { return };
        let Package { app, version, .. } = known.package;
        let request = Frame::Request { to, app, version, first, wanted: known.replica.missing_from(first) };
        request.write(self.id, &mut self.frame);
        put(Effect::Send(&self.frame));
    }

    /// Somebody asks this node for chunks: what it has it sends, what it has not it fetches.
    fn asked(&mut self, now: Instant, at: usize, first: u16, wanted: u64) {
        let (soon, later) = (now.saturating_add(self.settings.pace), self.later(now));
        let known = &mut self.known[at];
        for bit in (0..WINDOW).filter(|bit| wanted >> bit & 1 == 1) {
            if known.replica.mark(first.saturating_add(bit)) {
                known.sends = known.sends.or(Some(soon));
            }
        }
        if !known.covers && !known.package.removed {
            known.relays = Some(now.saturating_add(self.settings.keep));
            if known.wants() && known.asks.is_none() {
                known.asks = Some(soon.min(later));
            }
        }
    }

    fn send(&mut self, now: Instant, at: usize, put: &mut dyn FnMut(Effect<'_>)) {
        let known = &mut self.known[at];
        known.sends = None;
        let Some(index) = known.replica.unmark() else { return };
        known.sends = Some(now.saturating_add(self.settings.pace));
        let Package { app, version, .. } = known.package;
        let bytes = known.replica.chunk(&known.package, index);
        Frame::Chunk { app, version, index, bytes }.write(self.id, &mut self.frame);
        put(Effect::Send(&self.frame));
    }

    /// All chunks are there: they are the package, or are asked for again.
    fn verified(&mut self, now: Instant, at: usize, put: &mut dyn FnMut(Effect<'_>)) {
        let again = self.later(now);
        let known = &mut self.known[at];
        if known.replica.is_package(&known.package) {
            known.asks = None;
            self.completed(at, put);
        } else {
            known.replica.clear();
            known.asks = Some(again);
        }
    }

    fn completed(&mut self, at: usize, put: &mut dyn FnMut(Effect<'_>)) {
        let known = &mut self.known[at];
        let Package { app, version, .. } = known.package;
        if known.covers {
            put(Effect::Whole(app, version));
        }
    }
}

impl Known {
    fn wants(&self) -> bool {
        let for_itself = self.covers || self.relays.is_some();
        !self.package.removed && for_itself && !self.replica.is_complete()
    }
}
