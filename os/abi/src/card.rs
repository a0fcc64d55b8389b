//! What the kernel of an emulated machine tells those who read the machine's memory from outside: where the tables of all address
//! spaces lie, which of them each core has loaded, and which thread it runs.
//!
//! The words lie at physical address [`PLACE`], in a page that nobody else uses. No component sees them.

use crate::layout::{MAX_COMPONENTS, MAX_CORES};

/// Physical address of the words.
pub const PLACE: u64 = 0x9000;
/// The first word: `TACTUSMC`.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTUSMC");

/// Places of the words, counted from [`PLACE`] in words of 64 bits.
pub mod word {
    /// [`super::MAGIC`], written last.
    pub const MAGIC: usize = 0;
    /// Number of cores.
    pub const CORES: usize = 1;
    /// Number of components.
    pub const COMPONENTS: usize = 2;
    /// Colours of memory.
    pub const COLOURS: usize = 3;
    /// The kernel's colours, as bits.
    pub const KERNEL: usize = 4;
    /// Physical address of the top table from which the kernel's half of all address spaces is taken.
    pub const KERNEL_TOP: usize = 5;
    /// Physical address of the frames that a memory manager gives out, and how many there are.
    pub const POOL: usize = 6;
    /// See [`POOL`].
    pub const POOL_FRAMES: usize = 7;
    /// For each core the physical address of the word that holds the physical address of the top table that it has loaded.
    pub const LOADED: usize = 8;
    /// For each component the physical address of its top table, which is below 4 GiB; in the upper half the number of the frame with its
    /// counters, 0 if it has none.
    pub const TOPS: usize = LOADED + super::MAX_CORES;
    /// For each core the physical address of the word that holds the kernel's address of the thread that it runs.
    pub const RUNNING: usize = TOPS + super::MAX_COMPONENTS;
    /// The kernel's address of thread 0.
    pub const THREADS: usize = RUNNING + super::MAX_CORES;
    /// Bytes from one thread to the next.
    pub const THREAD_BYTES: usize = THREADS + 1;
    /// Number of words.
    pub const COUNT: usize = THREAD_BYTES + 1;
}

// One page holds them.
const _: () = assert!(word::COUNT * 8 <= 4096);
