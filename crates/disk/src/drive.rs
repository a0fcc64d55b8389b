//! A drive that turns: where its arm and its platter are, and when a request ends that is handed to it now.
//!
//! The platter's angle follows from the time alone, so that a run can be repeated. [`Drive::jitter`] disturbs the arm as
//! real ones are disturbed, from a seed. The same type predicts: a second drive with nominal figures that is told of
//! every completion ([`Drive::follow`]) knows the position as head-tracking software does.

use crate::cache::{Cache, CacheSettings, Lost};
use crate::geometry::Geometry;
use crate::request::Request;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Served {
    /// When.
    pub end: Instant,
    /// Whether the drive's memory answered.
    pub from_cache: bool,
}

/// A drive.
#[derive(Clone, Debug)]
pub struct Drive {
    geometry: Geometry,
    cylinder: u32,
    head: u32,
    phase: u64,
    cache: Cache,
    last_end: u64,
    jitter: u64,
    seed: u64,
}

impl Drive {
    /// At rest over the first cylinder.
    pub fn new(geometry: Geometry, cache: CacheSettings) -> Drive {
        let cache = Cache::new(cache);
        Drive { geometry, cylinder: 0, head: 0, phase: 0, cache, last_end: 0, jitter: 0, seed: 1 }
    }
    /// Lets every movement of the arm take up to so much longer, drawn from a seed.
    pub fn jitter(mut self, most: Duration, seed: u64) -> Drive {
        (self.jitter, self.seed) = (most.as_nanos(), seed | 1);
        self
    }
    /// What it is made of.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    /// Another sector has gone bad and lies elsewhere from now on.
    ///
    /// # Errors
    /// Where one of the blocks is beyond the end.
    pub fn remap(&mut self, block: u64, to: u64) -> Result<(), crate::GeometryError> {
        self.geometry.remap(block, to)
    }

    fn draw(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    /// Moves to a run of blocks, waits for it and lets it pass; the run does not cross a remapped sector.
    fn pass(&self, arm: (u32, u32), mut at: u64, block: u64, blocks: u64, write: bool, late: u64) -> (u64, (u32, u32)) {
        let turn = self.geometry.turn;
        let (mut arm, mut block, mut left, mut late) = (arm, block, blocks, late);
        while left > 0 {
            let place = self.geometry.place(block);
            let distance = arm.0.abs_diff(place.cylinder);
            if distance > 0 || arm.1 != place.head {
                let switch = if arm.1 == place.head { 0 } else { self.geometry.head_switch };
                let settle = if write { self.geometry.write_settle } else { 0 };
                at += self.geometry.seek.nanos(distance).max(switch) + settle + core::mem::take(&mut late);
            }
            let angle = (at + self.phase) % turn;
            at += (place.angle + turn - angle) % turn;
            let here = if self.geometry.is_remapped(block) { 1 } else { left.min(u64::from(place.rest)) };
            at += place.pass * here / 1024;
            (arm, block, left) = ((place.cylinder, place.head), block + here, left - here);
        }
        (at, arm)
    }

    fn mechanics(&self, at: u64, request: &Request, late: u64) -> (u64, (u32, u32)) {
        let (mut block, mut left) = (request.block, u64::from(request.blocks));
        let mut state = (at, (self.cylinder, self.head));
        while left > 0 {
            let run = match self.geometry.next_remapped(block, left) {
                Some(bad) if bad == block => 1,
                Some(bad) => bad - block,
                None => left,
            };
            state = self.pass(state.1, state.0, block, run, request.write, late);
            (block, left) = (block + run, left - run);
        }
        state
    }

    /// When a request would end that is dispatched now, by the mechanics alone.
    pub fn predict(&self, now: Instant, request: &Request) -> Instant {
        Instant::from_nanos(self.mechanics(now.as_nanos() + self.geometry.overhead, request, 0).0)
    }

    /// Serves a request that is dispatched now; no other is under way. A flush keeps what it writes until it has ended
    /// ([`Drive::flushed`]), since the power may go before.
    pub fn serve(&mut self, now: Instant, request: &Request) -> Served {
        if request.is_flush() {
            let mut at = now.as_nanos() + self.geometry.overhead;
            for n in 0..self.cache.dirty() {
                if let Some(write) = self.cache.nth(n) {
                    at = self.mechanical(at, &write);
                }
            }
            self.last_end = at;
            return Served { end: Instant::from_nanos(at), from_cache: false };
        }
        let start = now.as_nanos() + self.geometry.overhead;
        let bus = start + u64::from(request.blocks) * self.geometry.bus_sector;
        let pass = self.geometry.turn / 300;
        let idle = now.as_nanos().saturating_sub(self.last_end) / pass.max(1);
        self.cache.extend(idle, self.geometry.blocks());
        if request.write {
            self.cache.forget(request);
            if self.cache.settings.writes > 0 {
                let mut end = bus;
                if !self.cache.keep_write(request) {
                    if let Some(oldest) = self.cache.oldest() {
                        end = self.mechanical(start, &oldest).max(bus);
                    }
                    self.cache.keep_write(request);
                }
                self.last_end = end;
                return Served { end: Instant::from_nanos(end), from_cache: true };
            }
        } else if self.cache.holds(request) {
            self.last_end = bus;
            return Served { end: Instant::from_nanos(bus), from_cache: true };
        } else if let Some(blocks) = self.cache.streams(request) {
            let end = bus.max(start + blocks * pass);
            let place = self.geometry.place(request.block + u64::from(request.blocks.max(1)) - 1);
            ((self.cylinder, self.head), self.last_end) = ((place.cylinder, place.head), end);
            self.cache.keep_read(request);
            return Served { end: Instant::from_nanos(end), from_cache: true };
        }
        let end = self.mechanical(start, request);
        if !request.write {
            self.cache.keep_read(request);
        }
        Served { end: Instant::from_nanos(end), from_cache: false }
    }

    fn mechanical(&mut self, start: u64, request: &Request) -> u64 {
        let late = if self.jitter > 0 { self.draw() % self.jitter } else { 0 };
        let (end, arm) = self.mechanics(start, request, late);
        ((self.cylinder, self.head), self.last_end) = (arm, end);
        end
    }

    /// Writes everything that was answered but is not on the platter. Tells when that is done.
    pub fn flush(&mut self, now: Instant) -> Instant {
        let mut at = now.as_nanos() + self.geometry.overhead;
        while let Some(oldest) = self.cache.oldest() {
            at = self.mechanical(at, &oldest);
        }
        self.last_end = at;
        Instant::from_nanos(at)
    }
    /// The flush that was served last has ended: nothing is in the cache.
    pub fn flushed(&mut self) {
        while self.cache.oldest().is_some() {}
    }
    /// Writes that were answered but are not on the platter.
    pub fn dirty(&self) -> usize {
        self.cache.dirty()
    }
    /// The power goes: any part of those writes is lost, one may be torn.
    pub fn power_cut(&mut self, seed: u64) -> Vec<Lost> {
        let mut all = Vec::new();
        self.power_cut_with(seed, &mut |lost| all.push(lost));
        all
    }
    /// The same, each write told one after the other, the oldest first; nothing is allocated.
    pub fn power_cut_with(&mut self, seed: u64, tell: &mut impl FnMut(Lost)) {
        let mut state = seed | 1;
        let draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 11
        };
        self.cache.cut(draw, tell);
    }

    /// A predictor learns that a request ended just now on the real drive: arm and platter are there.
    pub fn follow(&mut self, end: Instant, request: &Request) {
        let turn = self.geometry.turn;
        let place = self.geometry.place(request.block + u64::from(request.blocks.max(1)) - 1);
        let angle = (place.angle + place.pass / 1024) % turn;
        (self.cylinder, self.head) = (place.cylinder, place.head);
        self.phase = (angle + turn - end.as_nanos() % turn) % turn;
    }
}
