//! The experiments of Tarasov, Sim, Povzner and Zadok (OSPERT 2012) on modelled drives: what a learned latency map is
//! worth for throughput and for deadlines.
//!
//! [`load`] runs processes that each have one request outstanding, as the source's generator does. [`Bench`] holds a drive,
//! the positions that are asked for and the full maps. All numbers follow from seeds.

pub mod load;
pub mod measure;
pub mod variants;

use tactus_disk::{CacheSettings, Drive, Form, Geometry, HotSet, LatencyMap, MapError, Request};
use tactus_time::{Duration, Instant};

/// Blocks of a request: 4 KiB, as the source's OLTP-like load has at most.
pub const BLOCKS: u32 = 8;

/// A small generator whose sequence is fixed (xorshift64*).
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    /// From a seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % n
    }
}

/// A drive with what is asked of it.
#[derive(Clone, Debug)]
pub struct Bench {
    /// What the drive is made of.
    pub geometry: Geometry,
    /// First blocks that are asked for.
    pub positions: Vec<u64>,
    /// Positions in one granule, which share a row of the map; at least 1.
    pub in_granule: u32,
    /// Blocks of a request.
    pub blocks: u32,
    /// Positions are asked for one after the other instead of at random.
    pub sequential: bool,
}

impl Bench {
    /// Draws `many` positions over the whole surface, each in a granule of its own.
    pub fn new(geometry: Geometry, many: usize, seed: u64) -> Bench {
        let mut draw = Draw::new(seed);
        let granules = geometry.blocks() / 256;
        let mut positions = Vec::new();
        while positions.len() < many.min(granules as usize / 2) {
            let more = many - positions.len();
            positions.extend((0..more).map(|_| draw.below(granules) * 256 + draw.below(256 - u64::from(BLOCKS))));
            positions.sort_unstable();
            positions.dedup_by_key(|block| *block / 256);
        }
        Bench { geometry, positions, in_granule: 1, blocks: BLOCKS, sequential: false }
    }
    /// `granules` granules over the whole surface, of each of which `in_granule` positions are asked for. They share a row.
    pub fn crowded(geometry: Geometry, granules: usize, in_granule: u32, seed: u64) -> Bench {
        let one = Bench::new(geometry, granules, seed);
        let mut draw = Draw::new(seed + 1);
        let mut in_one = |block: &u64| -> Vec<u64> {
            let mut offset = || block / 256 * 256 + draw.below(256 - u64::from(BLOCKS));
            (0..in_granule).map(|_| offset()).collect()
        };
        let positions = one.positions.iter().flat_map(&mut in_one).collect();
        Bench { positions, in_granule, ..one }
    }
    /// The same positions with requests of this number of blocks; those that would reach beyond the end are left out.
    pub fn with_blocks(mut self, blocks: u32) -> Bench {
        let end = self.geometry.blocks();
        self.positions.retain(|block| block + u64::from(blocks) <= end);
        Bench { blocks, ..self }
    }
    /// All positions of `many` granules that adjoin each other, asked for in order.
    pub fn adjacent(geometry: Geometry, many: u32) -> Bench {
        let in_granule = 256 / BLOCKS;
        let first = geometry.blocks() / 3 / 256 * 256;
        let positions = (0..u64::from(many * in_granule)).map(|n| first + n * u64::from(BLOCKS)).collect();
        Bench { geometry, positions, in_granule, blocks: BLOCKS, sequential: true }
    }
    /// The row of the next request, before which `serial` were issued.
    fn row(&self, draw: &mut Draw, serial: u64) -> u32 {
        let rows = self.positions.len() as u64;
        if self.sequential {
            (serial % rows) as u32
        } else {
            draw.below(rows) as u32
        }
    }
    /// The granules asked for.
    pub fn hot(&self) -> HotSet {
        HotSet::of_blocks(self.positions.iter().copied())
    }
    /// What a code is worth: a fifteenth of the longest that a request can take. What large requests take longer than small ones is
    /// added.
    pub fn quantum(&self) -> Duration {
        let drive = &self.geometry;
        let longest = drive.overhead + drive.write_settle + drive.seek.nanos(drive.cylinders()) + 2 * drive.turn;
        let longest = longest + drive.longest(self.blocks, false) - drive.longest(BLOCKS, false);
        Duration::from_nanos(longest.div_ceil(15).div_ceil(10_000) * 10_000)
    }
    /// A drive without caches.
    pub fn drive(&self) -> Drive {
        Drive::new(self.geometry.clone(), CacheSettings::default())
    }
    /// A read of a position.
    pub fn request(&self, id: u64, position: u32, arrival: Instant, deadline: Instant) -> Request {
        let block = self.positions[position as usize];
        Request { id, granule: position / self.in_granule, block, blocks: self.blocks, write: false, arrival, deadline }
    }
    /// A map that knows nothing.
    ///
    /// # Errors
    /// Where there are no positions, or too many.
    pub fn empty_map(&self, form: Form) -> Result<LatencyMap, MapError> {
        LatencyMap::new(form, self.positions.len().div_ceil(self.in_granule as usize), self.quantum())
    }
    /// A map that has seen every pair once, back to back.
    ///
    /// # Errors
    /// Where there are no positions, or too many.
    pub fn full_map(&self, form: Form) -> Result<LatencyMap, MapError> {
        let mut map = self.empty_map(form)?;
        let (mut drive, mut now) = (self.drive(), Instant::ZERO);
        let rows = self.positions.len() as u32;
        for from in 0..rows {
            for to in 0..rows {
                now = drive.serve(now, &self.request(0, from, now, Instant::NEVER)).end;
                let end = drive.serve(now, &self.request(0, to, now, Instant::NEVER)).end;
                map.learn(from / self.in_granule, to / self.in_granule, end.since(now));
                now = end;
            }
        }
        Ok(map)
    }
}
