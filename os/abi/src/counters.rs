//! Counters of what a component's own accesses do to the caches, in a page that it reads and that nobody in the machine writes: whoever
//! models the caches of an emulated machine does, from outside.
//!
//! Words of 64 bits: [`MAGIC`] once anything is counted, then for each core one for each of [`event`], and the same for each thread that
//! was in the component, in the order in which they came; threads for which there is no more room are counted with their cores alone.

use crate::layout::MAX_CORES;

/// The first word: `TACTUSCN`. Anything else: nobody counts.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTUSCN");
/// Words of a core.
pub const EVENTS: usize = 8;
/// Where a core's words begin, counted in words.
pub const fn of_core(core: usize) -> usize {
    EVENTS + core * EVENTS
}

/// Threads that have words of their own.
pub const THREADS: usize = (4096 / 8 - of_core(MAX_CORES)) / EVENTS;
/// Where the words of the thread begin that came into the component after so many others, counted in words.
pub const fn of_thread(place: usize) -> usize {
    of_core(MAX_CORES) + place * EVENTS
}

/// Places of the words of a core or a thread. All count what this component did on it.
pub mod event {
    /// Instructions.
    pub const INSTRUCTIONS: usize = 0;
    /// Lines fetched, reads and writes.
    pub const ACCESSES: usize = 1;
    /// Accesses that the core's own caches did not answer.
    pub const PRIVATE_MISSES: usize = 2;
    /// Accesses that memory answered.
    pub const SHARED_MISSES: usize = 3;
    /// Accesses that another core answered, which had changed the line.
    pub const CHANGED: usize = 4;
    /// Writes.
    pub const WRITES: usize = 5;
    /// Changed lines that memory took back because of an access: what drove one out wrote it back, whoever had changed it.
    pub const WRITE_BACKS: usize = 6;
    /// Of a thread: its number, and one more; 0 where no thread has come. Nothing of a core.
    pub const THREAD: usize = 7;
}

// One page holds them.
const _: () = assert!(of_core(MAX_CORES) * 8 <= 4096 && of_thread(THREADS) * 8 == 4096);
