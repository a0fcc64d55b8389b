//! A client: the extent of the disk that it was given, and the requests that it sends.
//!
//! Which place a request asks for follows from seed, client and number alone, so that the simulator and the machine send
//! the same requests.

use crate::map::GRANULE;
use crate::request::Request;
use tactus_time::{Duration, Instant};

/// When a client sends requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrivals {
    /// One in each period, which ends `deadline` after it came.
    Periodic {
        /// When the first comes.
        offset: Duration,
        /// Time between two.
        period: Duration,
        /// Relative deadline.
        deadline: Duration,
    },
    /// So many at once, each followed by another when it ends. They are promised nothing and wait for all others.
    BestEffort {
        /// How many.
        outstanding: u32,
    },
}

/// A client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Client {
    /// When it sends requests.
    pub arrivals: Arrivals,
    /// First block of its extent (512 bytes each); at the beginning of a granule.
    pub first: u64,
    /// Blocks of its extent, whole granules.
    pub extent: u64,
    /// Places in the extent that it asks for, each in a granule of its own, evenly spread.
    pub places: u32,
    /// Blocks of a request, at most a granule.
    pub blocks: u32,
    /// Whether it writes.
    pub write: bool,
}

/// Blocks of a granule.
const BLOCKS: u64 = GRANULE / 512;

impl Client {
    /// First block of a place.
    pub fn block(&self, place: u32) -> u64 {
        let granules = self.extent / BLOCKS;
        self.first + u64::from(place) * granules / u64::from(self.places.max(1)) * BLOCKS
    }
    /// The place that a request asks for, by its number.
    pub fn place(&self, seed: u64, client: u32, number: u32) -> u32 {
        // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) of the three.
        let mut word = seed ^ (u64::from(client) << 32 | u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) % u64::from(self.places.max(1))) as u32
    }
    /// The request with this number. `rows` is the map's first row of this client.
    pub fn request(&self, seed: u64, client: u32, rows: u32, number: u32, arrival: Instant) -> Request {
        let place = self.place(seed, client, number);
        let deadline = match self.arrivals {
            Arrivals::Periodic { deadline, .. } => arrival.saturating_add(deadline),
            Arrivals::BestEffort { .. } => Instant::NEVER,
        };
        Request {
            id: Request::name(client, number),
            granule: rows + place,
            block: self.block(place),
            blocks: self.blocks,
            write: self.write,
            arrival,
            deadline,
        }
    }
}
