//! The processors of level C in MC² (Herman, Kenna, Mollison, Anderson and Johnson, RTAS 2012): a heap behind the
//! container's lock, and marks. What level C has on a core can change while only that core's own lock is held: a job of
//! level A or B displaces it. The core then only marks its entry, without waiting; whoever has the container's lock
//! looks at the marks and mends the heap before relying on it.

use super::array_heap::ArrayHeap;
use super::values::{CachePadded, Values};
use super::{Directory, DirectoryRank, CLOSED};
use crate::{planted, Cores, Flaw};
use tactus_sync::facade::{AtomicU64, Ordering};
use tactus_sync::{Lock, Order, Rank};

/// How a core's entry stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Usable, and where it belongs.
    Active,
    /// Usable, and its place is stale.
    Activate,
    /// Not usable, and its place is stale.
    Remove,
    /// Not usable, and behind all that are.
    Removed,
}

/// A heap with marks.
pub struct Marks<const BUG: u8 = { planted::NONE }> {
    values: Values,
    /// The cores whose places are stale.
    stale: CachePadded<AtomicU64>,
    heap: Lock<ArrayHeap<BUG>, DirectoryRank>,
}

impl<const BUG: u8> Marks<BUG> {
    /// How the core's entry stands.
    pub fn mark(&self, core: usize) -> Mark {
        let stale = Cores(self.stale.0.load(Ordering::Acquire)).contains(core);
        match (self.values.get(core) != CLOSED, stale) {
            (true, false) => Mark::Active,
            (true, true) => Mark::Activate,
            (false, true) => Mark::Remove,
            (false, false) => Mark::Removed,
        }
    }
    fn mend(&self, heap: &mut ArrayHeap<BUG>) {
        if self.stale.0.load(Ordering::Acquire) == 0 {
            return;
        }
        for core in Cores(self.stale.0.swap(0, Ordering::AcqRel)).iter() {
            heap.set(core, self.values.get(core));
        }
    }
}

impl<const BUG: u8> Directory for Marks<BUG> {
    const NAME: &'static str = "marks";

    fn init(cores: usize) -> Self {
        Marks {
            values: Values::new(cores),
            stale: CachePadded(AtomicU64::new(0)),
            heap: Lock::new(ArrayHeap::full(cores)),
        }
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, _: &mut Order<H>, core: usize, value: u64) {
        if BUG == planted::TOLD_TOO_EARLY {
            self.stale.0.fetch_or(1 << core, Ordering::AcqRel);
            self.values.set(core, value);
        } else {
            self.values.set(core, value);
            self.stale.0.fetch_or(1 << core, Ordering::AcqRel);
        }
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, order: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        let mut heap = self.heap.lock(order);
        self.mend(&mut heap);
        self.values.best(heap.root()?, than, allowed)
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        let mut heap = self.heap.lock(order);
        self.mend(&mut heap);
        heap.check(Self::NAME, |core| Some(actual[core]))
    }
}
