//! Directories for whoever holds a lock over all cores already, as a global policy's container does: no atomics, no lock of
//! their own, and numbers of any ordered type, so that ties can be told apart. Two shapes: a row that is looked through,
//! and an array heap with an index.
//!
//! [`Locked`] puts either behind a lock of its own; so they can be driven, checked and measured beside all others.

use super::array_heap::ArrayHeap;
use super::{Directory, DirectoryRank};
use crate::flaw::same;
use crate::{planted, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::{Lock, Order, Rank};

/// What a core's number can be: the default is that of a core that nothing may be given to.
pub trait Number: Copy + Ord + Default + Send {}

impl<T: Copy + Ord + Default + Send> Number for T {}

/// Numbers of cores, and which is the greatest; for one caller at a time.
pub trait Held<K: Number>: Send {
    /// What people call it behind a lock.
    const NAME: &'static str;

    /// All cores have the default.
    fn with_cores(cores: usize) -> Self;
    /// The core has this number now.
    fn set(&mut self, core: usize, value: K);
    /// The core's number.
    fn get(&self, core: usize) -> K;
    /// The core with the greatest number; among equal ones, any.
    fn greatest(&self) -> usize;
    /// How many cores there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether each core's number is `actual`, and the inside is as it must be.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn check(&self, actual: &[u64]) -> Result<(), Flaw>
    where
        K: Into<u64>;
}

/// A row of numbers that is looked through.
pub struct HeldRow<K, const BUG: u8 = { planted::NONE }>(Vec<K>);

impl<K: Number, const BUG: u8> Held<K> for HeldRow<K, BUG> {
    const NAME: &'static str = "locked row";

    fn with_cores(cores: usize) -> Self {
        HeldRow(alloc::vec![K::default(); cores])
    }
    #[inline]
    fn set(&mut self, core: usize, value: K) {
        self.0[core] = value;
    }
    #[inline]
    fn get(&self, core: usize) -> K {
        self.0[core]
    }
    #[inline]
    fn greatest(&self) -> usize {
        let (mut best, mut choice) = (K::default(), 0);
        let looked_at = if BUG == planted::LAST_LEFT_OUT { &self.0[..self.0.len() - 1] } else { &self.0[..] };
        for (core, value) in looked_at.iter().enumerate() {
            if *value > best {
                (best, choice) = (*value, core);
            }
        }
        choice
    }
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    fn check(&self, actual: &[u64]) -> Result<(), Flaw>
    where
        K: Into<u64>,
    {
        for (core, value) in actual.iter().enumerate() {
            same(Self::NAME, "a core's number is that of its queue", core, *value, self.0[core].into())?;
        }
        Ok(())
    }
}

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
