//! What every directory has: each core's number, on a line of the cache of its own.

use crate::{same, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::facade::{AtomicU64, Ordering};

/// Something on cache lines of its own: two, since processors fetch them in pairs.
#[repr(align(128))]
pub(super) struct CachePadded<T>(pub(super) T);

/// Each core's number.
pub(super) struct Values(Vec<CachePadded<AtomicU64>>);

impl Values {
    pub(super) fn new(cores: usize) -> Values {
        assert!(cores <= crate::CORES, "a directory holds {} cores at most", crate::CORES);
        Values((0..cores).map(|_| CachePadded(AtomicU64::new(super::CLOSED))).collect())
    }
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
    #[inline]
    pub(super) fn get(&self, core: usize) -> u64 {
        self.0[core].0.load(Ordering::Acquire)
    }
    #[inline]
    pub(super) fn set(&self, core: usize, value: u64) {
        self.0[core].0.store(value, Ordering::Release);
    }

    /// The core if its number is greater and it is allowed; else the best that is, by looking at all.
    #[inline]
    pub(super) fn best(&self, hint: usize, than: u64, allowed: Cores) -> Option<usize> {
        if allowed.contains(hint) {
            return (self.get(hint) > than).then_some(hint);
        }
        self.scan(than, allowed)
    }

    /// The allowed core with the greatest number, if greater than `than`, by looking at all.
    pub(super) fn scan(&self, than: u64, allowed: Cores) -> Option<usize> {
        let (mut best, mut choice) = (than, None);
        for core in allowed.and(Cores::below(self.len())).iter() {
            let value = self.get(core);
            if value > best {
                (best, choice) = (value, Some(core));
            }
        }
        choice
    }

    /// Every core's number is what it must be.
    pub(super) fn check(&self, structure: &'static str, actual: &[u64]) -> Result<(), Flaw> {
        for (core, value) in actual.iter().enumerate() {
            same(structure, "a core's number is that of its queue", core, *value, self.get(core))?;
        }
        Ok(())
    }

    /// The core has the greatest number.
    pub(super) fn check_greatest(&self, structure: &'static str, core: usize) -> Result<(), Flaw> {
        let greatest = (0..self.len()).map(|core| self.get(core)).max().unwrap_or(0);
        same(structure, "the core at the root has the greatest number", core, greatest, self.get(core))
    }
}
