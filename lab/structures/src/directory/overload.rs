//! Which cores have tasks waiting: the `overloaded` flag of Linux's `root_domain`, and the set behind it.

use super::values::CachePadded;
use crate::{same, Cores, Flaw};
use tactus_sync::facade::{barrier, AtomicU32, AtomicU64, Ordering};

/// The set of cores with waiting tasks, and its size.
pub struct Overload {
    cores: CachePadded<AtomicU64>,
    count: CachePadded<AtomicU32>,
}

impl Default for Overload {
    fn default() -> Self {
        Overload { cores: CachePadded(AtomicU64::new(0)), count: CachePadded(AtomicU32::new(0)) }
    }
}

impl Overload {
    /// Tells whether the core has tasks waiting. The caller holds the core's ready queue.
    #[inline]
    pub fn set(&self, core: usize, waiting: bool) {
        let bit = 1 << core;
        // Only the holder of the queue changes this bit.
        if Cores(self.cores.0.load(Ordering::Relaxed)).contains(core) == waiting {
            return;
        }
        if waiting {
            self.cores.0.fetch_or(bit, Ordering::Relaxed);
            // Who sees the count sees the set.
            barrier();
            self.count.0.fetch_add(1, Ordering::Relaxed);
        } else {
            self.count.0.fetch_sub(1, Ordering::Relaxed);
            barrier();
            self.cores.0.fetch_and(!bit, Ordering::Relaxed);
        }
    }
    /// The cores with waiting tasks.
    #[inline]
    pub fn cores(&self) -> Cores {
        if self.count.0.load(Ordering::Relaxed) == 0 {
            return Cores::NONE;
        }
        barrier();
        Cores(self.cores.0.load(Ordering::Relaxed))
    }
    /// Whether the set is what it must be. The caller holds all ready queues.
    ///
    /// # Errors
    /// The rule that is broken.
    pub fn check(&self, waiting: Cores) -> Result<(), Flaw> {
        let found = self.cores.0.load(Ordering::Relaxed);
        same("overload", "the set holds the cores with waiting tasks", 0, waiting.0, found)?;
        let count = u64::from(self.count.0.load(Ordering::Relaxed));
        same("overload", "the count is the size of the set", 0, u64::from(waiting.0.count_ones()), count)
    }
}
