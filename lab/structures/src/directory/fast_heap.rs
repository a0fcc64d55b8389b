//! An array heap with a wait-free fast path: a core whose new number does not make it the greatest, and which was not
//! the greatest, only writes it down and goes on. Only a change at the root takes the lock, and makes good in the heap
//! what others have written down.
//!
//! Why nothing is lost: who writes down first writes, then (after a barrier) looks at the root; who changes the root
//! first tells the new root, then (after a barrier) looks whether something was written down. So of two that meet at
//! least one sees the other. Without the barriers neither may.

use super::array_heap::ArrayHeap;
use super::values::{CachePadded, Values};
use super::{Directory, DirectoryRank};
use crate::{planted, Cores, Flaw};
use tactus_sync::facade::{barrier, AtomicU32, AtomicU64, Ordering};
use tactus_sync::{Lock, Order, Rank};

/// A heap that is mended when it matters.
pub struct FastHeap<const BUG: u8 = { planted::NONE }> {
    values: Values,
    /// The cores whose numbers the heap may not have.
    dirty: CachePadded<AtomicU64>,
    /// A core with the greatest number.
    root: CachePadded<AtomicU32>,
    heap: Lock<ArrayHeap<BUG>, DirectoryRank>,
}

impl<const BUG: u8> FastHeap<BUG> {
    fn fence() {
        if BUG != planted::MISSING_BARRIER {
            barrier();
        }
    }

    /// Makes good in the heap what was written down, and tells the root; again if something came meanwhile.
    #[cold]
    fn mend<H: Rank>(&self, order: &mut Order<H>) {
        let mut heap = self.heap.lock(order);
        loop {
            for core in Cores(self.dirty.0.swap(0, Ordering::AcqRel)).iter() {
                heap.set(core, self.values.get(core));
            }
            self.root.0.store(heap.root().unwrap_or(0) as u32, Ordering::Release);
            Self::fence();
            if self.dirty.0.load(Ordering::Acquire) == 0 {
                return;
            }
        }
    }
}

impl<const BUG: u8> Directory for FastHeap<BUG> {
    const NAME: &'static str = "fast heap";

    fn init(cores: usize) -> Self {
        FastHeap {
            values: Values::new(cores),
            dirty: CachePadded(AtomicU64::new(0)),
            root: CachePadded(AtomicU32::new(0)),
            heap: Lock::new(ArrayHeap::full(cores)),
        }
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, order: &mut Order<H>, core: usize, value: u64) {
        if self.values.get(core) == value {
            return;
        }
        self.values.set(core, value);
        self.dirty.0.fetch_or(1 << core, Ordering::AcqRel);
        Self::fence();
        let root = self.root.0.load(Ordering::Acquire) as usize;
        if root == core || self.values.get(root) < value {
            self.mend(order);
        }
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        self.values.best(self.root.0.load(Ordering::Acquire) as usize, than, allowed)
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        self.values.check_greatest(Self::NAME, self.root.0.load(Ordering::Acquire) as usize)?;
        let mut heap = self.heap.lock(order);
        for core in Cores(self.dirty.0.swap(0, Ordering::AcqRel)).iter() {
            heap.set(core, self.values.get(core));
        }
        heap.check(Self::NAME, |core| Some(actual[core]))
    }
}
