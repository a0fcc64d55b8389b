//! A binary heap in an array, without an index: for queues of which only the first is ever taken, as a global policy's are.
//! Whatever else is to be taken out has to be looked for.

use super::{Entry, ReadyQueue};
use crate::flaw::same;
use crate::{planted, Flaw};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A heap of anything ordered, smallest first. Made with room for all that it may hold; it never allocates again.
pub struct FirstHeap<K, const BUG: u8 = { planted::NONE }> {
    /// As many places as there may be entries; those from `len` on mean nothing.
    entries: Box<[K]>,
    len: usize,
}

impl<K: Copy + Ord + Default, const BUG: u8> FirstHeap<K, BUG> {
    /// An empty heap with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Self {
        FirstHeap { entries: alloc::vec![K::default(); capacity].into_boxed_slice(), len: 0 }
    }
    /// The smallest.
    #[inline(always)]
    pub fn peek(&self) -> Option<K> {
        match self.len {
            0 => None,
            _ => self.entries.first().copied(),
        }
    }
    /// Puts an entry in. There must be room.
    #[inline(never)]
    pub fn push(&mut self, key: K) {
        let hole = self.len;
        if hole >= self.entries.len() {
            debug_assert!(false, "one entry per task");
            return;
        }
        self.len += 1;
        self.rise(hole, key);
    }
    /// Takes the smallest out without a look at it; there may be none.
    #[inline(always)]
    pub fn drop_first(&mut self) {
        self.len = self.len.saturating_sub(1);
        if let Some(&last) = self.entries.get(self.len) {
            self.replace_first(last);
        }
    }
    /// Takes the smallest out.
    #[inline(never)]
    pub fn pop(&mut self) -> Option<K> {
        let first = self.peek()?;
        self.len -= 1;
        if let Some(&last) = self.entries.get(self.len) {
            self.replace_first(last);
        }
        Some(first)
    }
    /// Puts `key` in the place of the smallest one, which saves a pop and a push. Does nothing if there is none.
    #[inline(never)]
    pub fn replace_first(&mut self, key: K) {
        self.sink(0, key);
    }

    #[inline(always)]
    fn rise(&mut self, mut hole: usize, key: K) {
        let Some(entries) = self.entries.get_mut(..=hole) else { return };
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let above = entries[parent];
            if above < key {
                break;
            }
            entries[hole] = above;
            hole = parent;
        }
        entries[hole] = key;
    }

    #[inline(always)]
    fn sink(&mut self, mut hole: usize, key: K) {
        let Some(entries) = self.entries.get_mut(..self.len) else { return };
        // Values are read before they are compared, so that the choice of the child needs no branch.
        while let Some(&[left, right]) = entries.get(2 * hole + 1..2 * hole + 3) {
            let (child, below) = if right < left { (2 * hole + 2, right) } else { (2 * hole + 1, left) };
            if key < below || BUG == planted::NOT_SUNK {
                entries[hole] = key;
                return;
            }
            entries[hole] = below;
            hole = child;
        }
        let last = 2 * hole + 1;
        if last < entries.len() && entries[last] < key && BUG != planted::NOT_SUNK {
            entries[hole] = entries[last];
            hole = last;
        }
        if let Some(place) = entries.get_mut(hole) {
            *place = key;
        }
    }

    /// Takes out what is at a place.
    fn take(&mut self, hole: usize) {
        self.len -= 1;
        let last = self.entries[self.len];
        if hole < self.len {
            if hole > 0 && last < self.entries[(hole - 1) / 2] {
                self.rise(hole, last);
            } else {
                self.sink(hole, last);
            }
        }
    }
}

/// The heap as a queue of ready tasks.
pub struct PlainHeap<const BUG: u8 = { planted::NONE }> {
    heap: FirstHeap<Entry, BUG>,
    /// By task: whether it is in.
    present: Vec<bool>,
}

impl<const BUG: u8> PlainHeap<BUG> {
    fn entries(&self) -> &[Entry] {
        &self.heap.entries[..self.heap.len]
    }
}

impl<const BUG: u8> ReadyQueue for PlainHeap<BUG> {
    const NAME: &'static str = "plain heap";

    fn with_room(tasks: usize) -> Self {
        PlainHeap { heap: FirstHeap::with_capacity(tasks), present: alloc::vec![false; tasks] }
    }
    fn insert(&mut self, entry: Entry) {
        if core::mem::replace(&mut self.present[entry.task as usize], true) {
            self.remove(entry.task);
            self.present[entry.task as usize] = true;
        }
        self.heap.push(entry);
    }
    fn remove(&mut self, task: u32) -> Option<Entry> {
        if !core::mem::replace(&mut self.present[task as usize], false) {
            return None;
        }
        let place = self.entries().iter().position(|entry| entry.task == task)?;
        let entry = self.entries()[place];
        self.heap.take(place);
        Some(entry)
    }
    #[inline]
    fn peek(&self) -> Option<Entry> {
        self.heap.peek()
    }
    fn pop(&mut self) -> Option<Entry> {
        let first = self.heap.pop()?;
        self.present[first.task as usize] = false;
        Some(first)
    }
    fn len(&self) -> usize {
        self.heap.len
    }
    fn each(&self, visit: &mut dyn FnMut(Entry)) {
        self.entries().iter().for_each(|entry| visit(*entry));
    }
    fn check(&self) -> Result<(), Flaw> {
        for (place, entry) in self.entries().iter().enumerate() {
            let parent = self.entries()[place.saturating_sub(1) / 2];
            let rule = "no entry is more urgent than its parent";
            same(Self::NAME, rule, place, 1, u64::from(parent <= *entry))?;
            let present = self.present[entry.task as usize];
            same(Self::NAME, "what is in is known to be", entry.task as usize, 1, u64::from(present))?;
        }
        let present = self.present.iter().filter(|present| **present).count();
        same(Self::NAME, "nothing else is known to be in", 0, self.heap.len as u64, present as u64)
    }
}
