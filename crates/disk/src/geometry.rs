//! Where a block lies on a drive, and at which angle: zones, skews, remapped sectors.
//!
//! Angles are in nanoseconds of a turn. Blocks run along a track, then over the heads of a cylinder, then to the next
//! cylinder, outermost first.

use crate::seek::SeekCurve;
use alloc::vec::Vec;
use core::fmt;

/// Cylinders whose tracks hold the same number of sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zone {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// Sectors of a track.
    pub sectors: u32,
    /// By how many sectors a track begins later than the one before it in its cylinder.
    pub track_skew: u32,
    /// By how many a cylinder's first track begins later than the last of the cylinder before.
    pub cylinder_skew: u32,
}

/// Where a block lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Cylinder.
    pub cylinder: u32,
    /// Head.
    pub head: u32,
    /// Sector of the track.
    pub sector: u32,
    /// When in a turn the sector begins, ns.
    pub angle: u64,
    /// How long a sector takes to pass, in ns, times 1024.
    pub pass: u64,
    /// Sectors of the track from this one to its end.
    pub rest: u32,
}

/// What a drive is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Surfaces.
    pub heads: u32,
    /// A turn in ns.
    pub turn: u64,
    /// The arm.
    pub seek: SeekCurve,
    /// Change of head in one cylinder, ns.
    pub head_switch: u64,
    /// What a write waits longer after the arm or head moved, ns.
    pub write_settle: u64,
    /// Command, controller, ns.
    pub overhead: u64,
    /// Bus: ns for each sector out of the cache.
    pub bus_sector: u64,
    zones: Vec<(Zone, u64)>,
    blocks: u64,
    remapped: Vec<(u64, u64)>,
}

/// Why this is no drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// No zone, head or turn.
    Nothing,
    /// This zone does not begin after the one before, or is empty.
    Zone(usize),
    /// A block beyond the end.
    Beyond(u64),
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GeometryError::Nothing => write!(f, "a drive needs a zone, a head and a turn of some length"),
            GeometryError::Zone(n) => {
                write!(f, "zone {n} must begin at the cylinder after the last zone's, with sectors")
            }
            GeometryError::Beyond(block) => write!(f, "block {block} lies beyond the end of the drive"),
        }
    }
}

impl Geometry {
    /// A drive without overhead, settling and remapped sectors; those are set after.
    ///
    /// # Errors
    /// Where zones do not follow each other, or there is nothing.
    pub fn new(heads: u32, turn: u64, seek: SeekCurve, zones: &[Zone]) -> Result<Geometry, GeometryError> {
        if heads == 0 || turn == 0 || zones.is_empty() {
            return Err(GeometryError::Nothing);
        }
        let (mut blocks, mut next, mut kept) = (0, 0, Vec::with_capacity(zones.len()));
        for (n, zone) in zones.iter().enumerate() {
            if zone.first != next || zone.last < zone.first || zone.sectors == 0 {
                return Err(GeometryError::Zone(n));
            }
            kept.push((*zone, blocks));
            blocks += u64::from(zone.last - zone.first + 1) * u64::from(heads) * u64::from(zone.sectors);
            next = zone.last + 1;
        }
        Ok(Geometry {
            heads,
            turn,
            seek,
            head_switch: 0,
            write_settle: 0,
            overhead: 0,
            bus_sector: 0,
            zones: kept,
            blocks,
            remapped: Vec::new(),
        })
    }

    /// Longer than any request of this number of blocks can take, wherever arm and platter are when it is dispatched: the longest
    /// seek and a whole turn, and once more the shortest move and a turn for each track that it may run into. Remapped
    /// sectors are not counted.
    pub fn longest(&self, blocks: u32, write: bool) -> u64 {
        let settle = if write { self.write_settle } else { 0 };
        let seek = self.seek.longest();
        let sectors = self.zones.iter().map(|(zone, _)| u64::from(zone.sectors)).min().unwrap_or(1);
        let next = self.seek.nanos(1).max(self.head_switch) + settle + self.turn;
        let blocks = u64::from(blocks);
        let crossed = blocks.div_ceil(sectors);
        let first = self.overhead + seek.max(self.head_switch) + settle + self.turn;
        first + crossed * next + (blocks + crossed + 1) * self.turn.div_ceil(sectors)
    }
    /// Blocks of the drive.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }
    /// Cylinders of the drive.
    pub fn cylinders(&self) -> u32 {
        self.zones.last().map_or(0, |(zone, _)| zone.last + 1)
    }

    /// From now on a bad block lies at the place of another.
    ///
    /// # Errors
    /// Where one of them is beyond the end.
    pub fn remap(&mut self, block: u64, to: u64) -> Result<(), GeometryError> {
        if let Some(beyond) = [block, to].into_iter().find(|&block| block >= self.blocks) {
            return Err(GeometryError::Beyond(beyond));
        }
        match self.remapped.binary_search_by_key(&block, |pair| pair.0) {
            Ok(at) => self.remapped[at].1 = to,
            Err(at) => self.remapped.insert(at, (block, to)),
        }
        Ok(())
    }
    /// Whether a block lies elsewhere.
    pub fn is_remapped(&self, block: u64) -> bool {
        self.remapped.binary_search_by_key(&block, |pair| pair.0).is_ok()
    }
    /// The first block from `block` on, among this number, that lies elsewhere.
    pub fn next_remapped(&self, block: u64, blocks: u64) -> Option<u64> {
        let at = self.remapped.partition_point(|pair| pair.0 < block);
        self.remapped.get(at).map(|pair| pair.0).filter(|&next| next < block + blocks)
    }

    /// Where a block lies.
    ///
    /// # Panics
    /// If it is beyond the end.
    pub fn place(&self, block: u64) -> Place {
        assert!(block < self.blocks, "block {block} of {}", self.blocks);
        let block = match self.remapped.binary_search_by_key(&block, |pair| pair.0) {
            Ok(at) => self.remapped[at].1,
            Err(_) => block,
        };
        let (zone, start) = self.zones[self.zones.partition_point(|(_, start)| *start <= block) - 1];
        let sectors = u64::from(zone.sectors);
        let (track, sector) = ((block - start) / sectors, (block - start) % sectors);
        let (cylinder, head) = (track / u64::from(self.heads), track % u64::from(self.heads));
        let (track_skew, cylinder_skew) = (u64::from(zone.track_skew), u64::from(zone.cylinder_skew));
        let per_cylinder = u64::from(self.heads - 1) * track_skew + cylinder_skew;
        let slot = (sector + cylinder * per_cylinder + head * track_skew) % sectors;
        Place {
            cylinder: zone.first + cylinder as u32,
            head: head as u32,
            sector: sector as u32,
            angle: slot * self.turn / sectors,
            pass: self.turn * 1024 / sectors,
            rest: zone.sectors - sector as u32,
        }
    }
}
