//! A binary heap in an array that knows where each task is, so that any task can be taken out in logarithmic time.

use super::{Entry, ReadyQueue, NIL};
use crate::flaw::same;
use crate::{planted, Flaw};
use alloc::vec::Vec;

/// A binary heap with an index.
pub struct BinaryHeap<const BUG: u8 = { planted::NONE }> {
    entries: Vec<Entry>,
    /// By task: where its entry is, or `NIL`.
    places: Vec<u32>,
}

impl<const BUG: u8> BinaryHeap<BUG> {
    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        self.places[entry.task as usize] = place as u32;
    }

    fn rise(&mut self, mut hole: usize, entry: Entry) {
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let above = self.entries[parent];
            if above < entry {
                break;
            }
            self.put(hole, above);
            hole = parent;
        }
        self.put(hole, entry);
    }

    fn sink(&mut self, mut hole: usize, entry: Entry) {
        loop {
            let mut child = 2 * hole + 1;
            if child >= self.entries.len() {
                break;
            }
            if child + 1 < self.entries.len() && self.entries[child + 1] < self.entries[child] {
                child += 1;
            }
            let below = self.entries[child];
            if entry < below {
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
}

impl<const BUG: u8> ReadyQueue for BinaryHeap<BUG> {
    const NAME: &'static str = "binary heap";

    fn with_room(tasks: usize) -> Self {
        BinaryHeap { entries: Vec::with_capacity(tasks), places: alloc::vec![NIL; tasks] }
    }
    fn insert(&mut self, entry: Entry) {
        self.remove(entry.task);
        let end = self.entries.len();
        self.entries.push(entry);
        self.rise(end, entry);
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        let hole = core::mem::replace(&mut self.places[task as usize], NIL) as usize;
        let entry = *self.entries.get(hole)?;
        let last = self.entries.pop()?;
        if hole < self.entries.len() {
            if hole > 0 && last < self.entries[(hole - 1) / 2] {
                self.rise(hole, last);
            } else {
                self.sink(hole, last);
            }
        }
        Some(entry)
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        self.entries.first().copied()
    }
    fn len(&self) -> usize {
        self.entries.len()
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        self.entries.iter().for_each(|entry| visit(*entry));
    }
    fn check(&self) -> Result<(), Flaw> {
        for (place, entry) in self.entries.iter().enumerate().skip(1) {
            let parent = self.entries[(place - 1) / 2];
            let rule = "no entry is more urgent than its parent";
            same(Self::NAME, rule, place, 1, u64::from(parent <= *entry))?;
        }
        for (place, entry) in self.entries.iter().enumerate() {
            let found = u64::from(self.places[entry.task as usize]);
            same(Self::NAME, "the index tells where each task is", entry.task as usize, place as u64, found)?;
        }
        let indexed = self.places.iter().filter(|place| **place != NIL).count();
        same(Self::NAME, "the index tells of no other task", 0, self.entries.len() as u64, indexed as u64)
    }
}
