//! A request as the scheduler sees it, and where the drive's head was left.

use tactus_time::{Duration, Instant};

/// One request to a disk, at most one granule long; longer ones are divided before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The caller's name for it.
    pub id: u64,
    /// Place in the [`crate::HotSet`]: which row of the map it is.
    pub granule: u32,
    /// First block (of 512 bytes).
    pub block: u64,
    /// How many blocks; none for a flush ([`Request::is_flush`]).
    pub blocks: u32,
    /// Whether it writes.
    pub write: bool,
    /// When it came.
    pub arrival: Instant,
    /// When it should be done.
    pub deadline: Instant,
}

impl Request {
    /// The name of a client's request.
    pub const fn name(client: u32, number: u32) -> u64 {
        (client as u64) << 32 | number as u64
    }
    /// Which client's it is, if it was named by [`Request::name`].
    pub const fn client(&self) -> u32 {
        (self.id >> 32) as u32
    }
    /// Its number within the client, likewise.
    pub const fn number(&self) -> u32 {
        self.id as u32
    }
    /// Whether it asks that all writes be on the platter: a write of no blocks.
    pub const fn is_flush(&self) -> bool {
        self.write && self.blocks == 0
    }
    /// How late it is when it ends at `end`; zero if it is not.
    pub fn overtime(&self, end: Instant) -> Duration {
        end.since(self.deadline)
    }
}

/// Where the last request that was dispatched left the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Head {
    /// Its place in the map.
    pub granule: u32,
    /// The block after its last.
    pub block: u64,
}

impl From<&Request> for Head {
    fn from(request: &Request) -> Head {
        Head { granule: request.granule, block: request.block + u64::from(request.blocks) }
    }
}
