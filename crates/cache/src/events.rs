//! What the model counts: for every processor what its counters would say, and who drove out whom.

use crate::line::{Owner, State};
use alloc::vec;
use alloc::vec::Vec;

/// What an access is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// An instruction is fetched.
    Fetch,
    /// Data are read.
    Read,
    /// Data are written.
    Write,
}

/// Who answered an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Served {
    /// The first level.
    First,
    /// The private second level.
    Second,
    /// The shared level; no other core had to answer.
    Shared,
    /// Another core had a clean copy.
    RemoteClean,
    /// Another core had changed the line.
    RemoteModified,
    /// Memory.
    Memory,
}

/// The counters of one processor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Events {
    /// Instruction fetches.
    pub fetches: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Fetches that missed the instruction cache.
    pub instruction_misses: u64,
    /// Reads and writes that missed the data cache.
    pub data_misses: u64,
    /// Requests that missed the second level (0 without one).
    pub second_misses: u64,
    /// Requests that missed the shared level.
    pub shared_misses: u64,
    /// Reads that found the line modified in another core (the source's HITM).
    pub hitm: u64,
    /// Writes that found the line modified in another core.
    pub store_hitm: u64,
    /// Reads that found a clean copy in another core (the source's HIT remote).
    pub hit_remote: u64,
    /// Reads that hit the shared level, which thought that another core had a copy, and none had (local HIT, remote MISS).
    pub remote_miss: u64,
    /// Writes to a line that was here shared.
    pub upgrades: u64,
    /// Lines that came into the last private level where an invalidated copy of the same line still stood (LINES_IN.I).
    pub lines_in_invalid: u64,
    /// Lines that came in shared or forward (LINES_IN.S).
    pub lines_in_shared: u64,
    /// Lines that came in exclusive (LINES_IN.E).
    pub lines_in_exclusive: u64,
    /// Lines that came in modified or owned.
    pub lines_in_modified: u64,
    /// Copies that another core's write took from here.
    pub invalidated: u64,
    /// Requests of other cores that this core's private caches answered with data.
    pub snooped: u64,
    /// Copies that went because an inclusive level below dropped the line.
    pub back_invalidated: u64,
    /// Changed lines that left the private caches.
    pub write_backs: u64,
    /// Lines that the prefetcher brought in.
    pub prefetches: u64,
    /// Cycles of all answers together.
    pub cycles: u64,
}

impl Events {
    /// Counts a line that came in.
    #[inline(always)]
    pub(crate) fn line_in(&mut self, state: State) {
        // Sums, not branches: which state comes next is hard to foresee.
        self.lines_in_shared += u64::from(matches!(state, State::Shared | State::Forward));
        self.lines_in_exclusive += u64::from(state == State::Exclusive);
        self.lines_in_modified += u64::from(state.is_dirty());
    }

    /// All accesses.
    pub const fn accesses(&self) -> u64 {
        self.fetches + self.reads + self.writes
    }
}

/// Who drove out whose lines: a square table over owners.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Evictions {
    owners: usize,
    /// Of each owner its place in a row or column.
    places: [u8; 256],
    table: Vec<u64>,
}

impl Evictions {
    /// An empty table for owners 0 to `owners` − 1; what is beyond counts as owner 0.
    pub fn new(owners: usize) -> Evictions {
        let owners = owners.clamp(1, 256);
        let places = core::array::from_fn(|owner| if owner < owners { owner as u8 } else { 0 });
        Evictions { owners, places, table: vec![0; owners * owners] }
    }

    #[inline(always)]
    fn place(&self, owner: Owner) -> usize {
        usize::from(self.places[usize::from(owner.0)])
    }

    /// Counts one line.
    #[inline(always)]
    pub(crate) fn count(&mut self, by: Owner, of: Owner) {
        let at = self.place(by) * self.owners + self.place(of);
        self.table[at] += 1;
    }

    /// Lines of `of` that `by` drove out.
    pub fn get(&self, by: Owner, of: Owner) -> u64 {
        self.table[self.place(by) * self.owners + self.place(of)]
    }

    /// Owners.
    pub const fn owners(&self) -> usize {
        self.owners
    }

    /// Lines that anybody drove out.
    pub fn total(&self) -> u64 {
        self.table.iter().sum()
    }

    /// Lines of one owner that another one drove out.
    pub fn foreign(&self) -> u64 {
        let own: u64 = (0..self.owners).map(|owner| self.table[owner * self.owners + owner]).sum();
        self.total() - own
    }
}
