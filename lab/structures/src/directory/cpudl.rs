//! The heap of deadlines of Linux's deadline class (`cpudl`): cores that run something are in an array heap with an
//! index, behind one lock; idle ones are in a set. Finding takes no lock: it looks at the set, then at the root.
//!
//! Where the source gives up if the root's core is not allowed, all numbers are looked at, since the most urgent tasks
//! would not run otherwise.

use super::array_heap::ArrayHeap;
use super::values::{CachePadded, Values};
use super::{Directory, DirectoryRank, IDLE};
use crate::{planted, same, Cores, Flaw};
use tactus_sync::facade::{AtomicU32, AtomicU64, Ordering};
use tactus_sync::{Lock, Order, Rank};

/// A heap of cores behind a lock.
pub struct Cpudl<const BUG: u8 = { planted::NONE }> {
    values: Values,
    free: CachePadded<AtomicU64>,
    root: CachePadded<AtomicU32>,
    heap: Lock<ArrayHeap<BUG>, DirectoryRank>,
}

/// The root of an empty heap.
const NOBODY: u32 = u32::MAX;

impl<const BUG: u8> Directory for Cpudl<BUG> {
    const NAME: &'static str = "cpudl";

    fn init(cores: usize) -> Self {
        Cpudl {
            values: Values::new(cores),
            free: CachePadded(AtomicU64::new(0)),
            root: CachePadded(AtomicU32::new(0)),
            heap: Lock::new(ArrayHeap::full(cores)),
        }
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, order: &mut Order<H>, core: usize, value: u64) {
        let mut heap = self.heap.lock(order);
        self.values.set(core, value);
        if value == IDLE {
            heap.clear(core);
            self.free.0.fetch_or(1 << core, Ordering::Release);
        } else {
            heap.set(core, value);
            self.free.0.fetch_and(!(1 << core), Ordering::Release);
        }
        self.root.0.store(heap.root().map_or(NOBODY, |core| core as u32), Ordering::Release);
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        if than < IDLE {
            if let Some(core) = Cores(self.free.0.load(Ordering::Acquire)).and(allowed).first() {
                return Some(core);
            }
        }
        match self.root.0.load(Ordering::Acquire) {
            NOBODY => None,
            root => self.values.best(root as usize, than, allowed),
        }
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        let mut free = 0;
        (0..actual.len()).filter(|core| actual[*core] == IDLE).for_each(|core| free |= 1 << core);
        same(Self::NAME, "the set of free cores holds the idle ones", 0, free, self.free.0.load(Ordering::Acquire))?;
        let heap = self.heap.lock(order);
        heap.check(Self::NAME, |core| Some(actual[core]).filter(|value| *value != IDLE))?;
        let root = heap.root().map_or(u64::from(NOBODY), |core| core as u64);
        same(Self::NAME, "the root that is told is the heap's", 0, root, u64::from(self.root.0.load(Ordering::Acquire)))
    }
}
