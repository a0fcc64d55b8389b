//! Directories for whoever holds a lock over all cores already: an array heap with an index, beside the row that policies use.
//!
//! [`Locked`] puts either behind a lock of its own; so they can be driven, checked and measured beside all others.

use super::array_heap::ArrayHeap;
use super::{Directory, DirectoryRank, Held, HeldRow, Number};
use crate::{planted, Cores, Flaw};
use tactus_sync::{Lock, Order, Rank};

/// An array heap with an index.
pub struct HeldHeap<K, const BUG: u8 = { planted::NONE }> {
    heap: ArrayHeap<BUG, K>,
    cores: usize,
}

impl<K: Number, const BUG: u8> Held<K> for HeldHeap<K, BUG> {
    const NAME: &'static str = "locked heap";

    fn with_cores(cores: usize) -> Self {
        HeldHeap { heap: ArrayHeap::full(cores), cores }
    }
    #[inline]
    fn set(&mut self, core: usize, value: K) {
        self.heap.set(core, value);
    }
    #[inline]
    fn get(&self, core: usize) -> K {
        self.heap.get(core)
    }
    #[inline]
    fn greatest(&self) -> usize {
        self.heap.root().unwrap_or(0)
    }
    #[inline]
    fn len(&self) -> usize {
        self.cores
    }
    fn check(&self, actual: &[u64]) -> Result<(), Flaw>
    where
        K: Into<u64>,
    {
        self.heap.check(Self::NAME, |core| Some(actual[core]))
    }
}

/// One of them behind a lock, which finding takes too.
pub struct Locked<S>(Lock<S, DirectoryRank>);

impl<S: Held<u64>> Directory for Locked<S> {
    const NAME: &'static str = S::NAME;

    fn init(cores: usize) -> Self {
        assert!(cores <= crate::CORES, "a directory holds {} cores at most", crate::CORES);
        Locked(Lock::new(S::with_cores(cores)))
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, order: &mut Order<H>, core: usize, value: u64) {
        self.0.lock(order).set(core, value);
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, order: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        let inside = self.0.lock(order);
        let greatest = inside.greatest();
        if inside.get(greatest) <= than {
            return None;
        }
        if allowed.contains(greatest) {
            return Some(greatest);
        }
        let (mut best, mut choice) = (than, None);
        for core in allowed.and(Cores::below(inside.len())).iter() {
            let value = inside.get(core);
            if value > best {
                (best, choice) = (value, Some(core));
            }
        }
        choice
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.0.lock(order).check(actual)
    }
}

/// A row behind a lock.
pub type LockedRow<const BUG: u8 = { planted::NONE }> = Locked<HeldRow<u64, BUG>>;

/// A heap behind a lock.
pub type LockedHeap<const BUG: u8 = { planted::NONE }> = Locked<HeldHeap<u64, BUG>>;
