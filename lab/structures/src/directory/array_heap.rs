//! A heap of cores in an array, the greatest number first, with an index from core to place. It is the inside of the
//! directories that keep a heap; it knows nothing of other cores.

use super::Number;
use crate::{planted, same, Flaw};
use alloc::vec::Vec;

const OUT: u32 = u32::MAX;

/// An array heap with an index.
pub(super) struct ArrayHeap<const BUG: u8, K = u64> {
    entries: Vec<(K, u32)>,
    places: Vec<u32>,
}

impl<const BUG: u8, K: Number> ArrayHeap<BUG, K> {
    /// A heap that holds all cores, with the least number.
    pub(super) fn full(cores: usize) -> Self {
        ArrayHeap {
            entries: (0..cores as u32).map(|core| (K::default(), core)).collect(),
            places: (0..cores as u32).collect(),
        }
    }
    #[inline]
    pub(super) fn root(&self) -> Option<usize> {
        self.entries.first().map(|entry| entry.1 as usize)
    }
    /// The core's number; it must be in the heap.
    #[inline]
    pub(super) fn get(&self, core: usize) -> K {
        self.entries[self.places[core] as usize].0
    }
    #[inline]
    fn put(&mut self, place: usize, entry: (K, u32)) {
        self.entries[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }

    /// Gives the core this number, putting it in if it is not there.
    pub(super) fn set(&mut self, core: usize, value: K) {
        let entry = (value, core as u32);
        match self.places[core] {
            OUT => {
                let end = self.entries.len();
                self.entries.push(entry);
                self.places[core] = end as u32;
                self.rise(end, entry);
            }
            place => {
                let place = place as usize;
                if value > self.entries[place].0 {
                    self.rise(place, entry);
                } else {
                    self.sink(place, entry);
                }
            }
        }
    }
    /// Takes the core out, if it is there.
    pub(super) fn clear(&mut self, core: usize) {
        let place = core::mem::replace(&mut self.places[core], OUT) as usize;
        if place == OUT as usize {
            return;
        }
        let Some(last) = self.entries.pop() else { return };
        if place >= self.entries.len() {
            return;
        }
        if place > 0 && last.0 > self.entries[(place - 1) / 2].0 {
            self.rise(place, last);
        } else {
            self.sink(place, last);
        }
    }

    fn rise(&mut self, mut hole: usize, entry: (K, u32)) {
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let above = self.entries[parent];
            if above.0 >= entry.0 {
                break;
            }
            self.put(hole, above);
            hole = parent;
        }
        self.put(hole, entry);
    }
    fn sink(&mut self, mut hole: usize, entry: (K, u32)) {
        loop {
            let mut child = 2 * hole + 1;
            if child >= self.entries.len() {
                break;
            }
            if child + 1 < self.entries.len() && self.entries[child + 1].0 > self.entries[child].0 {
                child += 1;
            }
            let below = self.entries[child];
            if below.0 <= entry.0 {
                break;
            }
            if BUG == planted::STALE_INDEX {
                self.entries[hole] = below;
            } else {
                self.put(hole, below);
            }
            hole = child;
        }
        self.put(hole, entry);
    }

    /// Each core's number is `actual`, or the core is not in the heap where that says nothing.
    pub(super) fn check(&self, name: &'static str, actual: impl Fn(usize) -> Option<u64>) -> Result<(), Flaw>
    where
        K: Into<u64>,
    {
        for (place, entry) in self.entries.iter().enumerate() {
            if place > 0 {
                let parent = self.entries[(place - 1) / 2];
                same(name, "no entry is greater than its parent", place, 1, u64::from(parent.0 >= entry.0))?;
            }
            let index = u64::from(self.places[entry.1 as usize]);
            same(name, "the index tells where each core is", entry.1 as usize, place as u64, index)?;
        }
        for core in 0..self.places.len() {
            let found = self.entries.get(self.places[core] as usize).map(|entry| entry.0.into());
            let rule = "the heap has a core's number";
            same(name, rule, core, actual(core).unwrap_or(u64::MAX), found.unwrap_or(u64::MAX))?;
        }
        Ok(())
    }
}
