//! A binary heap in an array, without an index: for queues of which only the first is ever taken, as a global policy's are.
//! Whatever else is to be taken out has to be looked for.

use crate::planted;
use alloc::boxed::Box;

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

    /// All that are in it, in the heap's order.
    pub fn entries(&self) -> &[K] {
        &self.entries[..self.len]
    }
    /// Takes out what is at a place of [`FirstHeap::entries`].
    pub fn take(&mut self, hole: usize) {
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
