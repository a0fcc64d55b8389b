//! Flat combining (Hendler, Incze, Shavit and Tzafrir, 2010): who wants a change writes it on a card of its own; who gets
//! the lock makes good what is on all cards, and the others wait for that. One core works on the heap for many, so it
//! stays in that core's cache.

use super::array_heap::ArrayHeap;
use super::values::{CachePadded, Values};
use super::{Directory, DirectoryRank};
use crate::{planted, Cores, Flaw};
use alloc::vec::Vec;
use tactus_sync::facade::{AtomicU32, AtomicU64, Ordering, Patience};
use tactus_sync::{Lock, Order, Rank};

/// What one core asks for.
struct Card {
    core: AtomicU32,
    value: AtomicU64,
    pending: AtomicU32,
}

/// A heap that is changed by one core for many.
pub struct FlatCombining<const BUG: u8 = { planted::NONE }> {
    values: Values,
    cards: Vec<CachePadded<Card>>,
    /// Whose cards are to be read.
    asked: CachePadded<AtomicU64>,
    root: CachePadded<AtomicU32>,
    heap: Lock<ArrayHeap<BUG>, DirectoryRank>,
}

impl<const BUG: u8> FlatCombining<BUG> {
    /// Makes good what is on the cards.
    fn combine(&self, heap: &mut ArrayHeap<BUG>) {
        let asked = if BUG == planted::LOST_WAKE_UP {
            self.asked.0.load(Ordering::Acquire)
        } else {
            self.asked.0.swap(0, Ordering::AcqRel)
        };
        for caller in Cores(asked).iter() {
            let card = &self.cards[caller].0;
            let core = card.core.load(Ordering::Relaxed) as usize;
            let value = card.value.load(Ordering::Relaxed);
            self.values.set(core, value);
            heap.set(core, value);
        }
        self.root.0.store(heap.root().unwrap_or(0) as u32, Ordering::Release);
        if BUG == planted::LOST_WAKE_UP {
            self.asked.0.store(0, Ordering::Release);
        }
        // Who waits may go on only when the root is told.
        for caller in Cores(asked).iter() {
            self.cards[caller].0.pending.store(0, Ordering::Release);
        }
    }
}

impl<const BUG: u8> Directory for FlatCombining<BUG> {
    const NAME: &'static str = "flat combining";

    fn init(cores: usize) -> Self {
        let card =
            |_| CachePadded(Card { core: AtomicU32::new(0), value: AtomicU64::new(0), pending: AtomicU32::new(0) });
        FlatCombining {
            values: Values::new(cores),
            cards: (0..cores).map(card).collect(),
            asked: CachePadded(AtomicU64::new(0)),
            root: CachePadded(AtomicU32::new(0)),
            heap: Lock::new(ArrayHeap::full(cores)),
        }
    }
    #[inline]
    fn preempt<H: Rank>(&self, me: usize, order: &mut Order<H>, core: usize, value: u64) {
        let card = &self.cards[me].0;
        card.core.store(core as u32, Ordering::Relaxed);
        card.value.store(value, Ordering::Relaxed);
        card.pending.store(1, Ordering::Relaxed);
        self.asked.0.fetch_or(1 << me, Ordering::AcqRel);
        let mut patience = Patience::default();
        while card.pending.load(Ordering::Acquire) != 0 {
            match self.heap.try_lock(order) {
                Some(mut heap) => self.combine(&mut heap),
                None => patience.wait(),
            }
        }
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        self.values.best(self.root.0.load(Ordering::Acquire) as usize, than, allowed)
    }
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)?;
        self.values.check_greatest(Self::NAME, self.root.0.load(Ordering::Acquire) as usize)?;
        self.heap.lock(order).check(Self::NAME, |core| Some(actual[core]))
    }
}
