//! Delegation: one core owns the heap, and nobody else touches it. The others tell the owner by message what has
//! changed, and find by what the owner has told last. This is what a kernel without global locks does.
//!
//! A message is a core's new number and a bit in the owner's inbox; a newer one takes the place of an older one of the
//! same core, so the inbox cannot overflow, and nobody waits. In a kernel an inter-core event follows the bit; the event's
//! handler is [`Directory::serve`]. What is found lags behind by as long as the owner takes to serve.

use super::array_heap::ArrayHeap;
use super::values::{CachePadded, Values};
use super::{Directory, DirectoryRank};
use crate::{planted, Cores, Flaw};
use tactus_sync::facade::{AtomicU32, AtomicU64, Ordering};
use tactus_sync::{Lock, Order, Rank};

/// The core that owns the heap.
const OWNER: usize = 0;

/// A heap that one core owns.
pub struct Delegation<const BUG: u8 = { planted::NONE }> {
    values: Values,
    inbox: CachePadded<AtomicU64>,
    root: CachePadded<AtomicU32>,
    /// Taken by the owner, and by a checker when all is quiet: nobody ever waits for it.
    heap: Lock<ArrayHeap<BUG>, DirectoryRank>,
}

impl<const BUG: u8> Delegation<BUG> {
    fn read_inbox<H: Rank>(&self, order: &mut Order<H>) {
        let mut heap = self.heap.lock(order);
        for core in Cores(self.inbox.0.swap(0, Ordering::AcqRel)).iter() {
            heap.set(core, self.values.get(core));
        }
        self.root.0.store(heap.root().unwrap_or(0) as u32, Ordering::Release);
    }
}

impl<const BUG: u8> Directory for Delegation<BUG> {
    const NAME: &'static str = "delegation";

    fn init(cores: usize) -> Self {
        Delegation {
            values: Values::new(cores),
            inbox: CachePadded(AtomicU64::new(0)),
            root: CachePadded(AtomicU32::new(0)),
            heap: Lock::new(ArrayHeap::full(cores)),
        }
    }
    #[inline]
    fn preempt<H: Rank>(&self, me: usize, order: &mut Order<H>, core: usize, value: u64) {
        if BUG == planted::TOLD_TOO_EARLY {
            self.inbox.0.fetch_or(1 << core, Ordering::AcqRel);
            self.values.set(core, value);
        } else {
            self.values.set(core, value);
            self.inbox.0.fetch_or(1 << core, Ordering::AcqRel);
        }
        if me == OWNER {
            self.read_inbox(order);
        }
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        self.values.best(self.root.0.load(Ordering::Acquire) as usize, than, allowed)
    }
    fn serve<H: Rank>(&self, me: usize, order: &mut Order<H>) {
        if me == OWNER && self.inbox.0.load(Ordering::Acquire) != 0 {
            self.read_inbox(order);
        }
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        self.read_inbox(order);
        self.values.check_greatest(Self::NAME, self.root.0.load(Ordering::Acquire) as usize)?;
        self.heap.lock(order).check(Self::NAME, |core| Some(actual[core]))
    }
}
