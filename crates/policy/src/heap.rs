//! Priority queues of fixed capacity: binary heaps of keys, smallest first. They are made with room for one entry per
//! task and never allocate again.

use alloc::vec::Vec;
use tactus_structures::queue::{BinaryHeap, Entry, ReadyQueue};
use tactus_time::Instant;

/// What queues are ordered by: an urgency (a time or a period, in nanoseconds), then the task's place.
///
/// One wide integer, so that a comparison is two instructions and has no branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Key(u128);

impl Key {
    pub(crate) fn new(urgency: u64, place: usize) -> Key {
        Key(u128::from(urgency) << 64 | place as u128)
    }
    pub(crate) fn at(time: Instant, place: usize) -> Key {
        Key::new(time.as_nanos(), place)
    }
    /// The urgency as a time.
    pub(crate) fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
    /// The whole key as one number.
    #[inline]
    pub(crate) fn wide(self) -> u128 {
        self.0
    }
    /// The task's place.
    pub(crate) fn place(self) -> usize {
        self.0 as u64 as usize
    }
}

/// A heap of keys from which only the smallest is taken.
pub(crate) struct Heap {
    entries: Vec<Key>,
}

impl Heap {
    /// An empty heap with room for `capacity` entries.
    pub(crate) fn with_capacity(capacity: usize) -> Heap {
        Heap { entries: Vec::with_capacity(capacity) }
    }
    #[inline]
    pub(crate) fn peek(&self) -> Option<Key> {
        self.entries.first().copied()
    }
    #[inline]
    pub(crate) fn push(&mut self, key: Key) {
        debug_assert!(self.entries.len() < self.entries.capacity());
        let mut hole = self.entries.len();
        self.entries.push(key);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let above = self.entries[parent];
            if above < key {
                break;
            }
            self.entries[hole] = above;
            hole = parent;
        }
        self.entries[hole] = key;
    }
    /// Takes the smallest key out.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Key> {
        let last = self.entries.pop()?;
        let Some(first) = self.entries.first().copied() else { return Some(last) };
        self.replace_first(last);
        Some(first)
    }
    /// Puts `key` in the place of the smallest one, which saves a pop and a push. Does nothing if there is none.
    #[inline]
    pub(crate) fn replace_first(&mut self, key: Key) {
        let entries = self.entries.as_mut_slice();
        if entries.is_empty() {
            return;
        }
        let mut hole = 0;
        // Values are read before they are compared, so that the choice of the child needs no branch.
        while let Some(&[left, right]) = entries.get(2 * hole + 1..2 * hole + 3) {
            let (child, below) = if right < left { (2 * hole + 2, right) } else { (2 * hole + 1, left) };
            if key < below {
                entries[hole] = key;
                return;
            }
            entries[hole] = below;
            hole = child;
        }
        let last = 2 * hole + 1;
        if last < entries.len() && entries[last] < key {
            entries[hole] = entries[last];
            hole = last;
        }
        entries[hole] = key;
    }
}

/// A heap that knows where each task's entry is, so that any entry can be taken out. One entry per task at most. Inside
/// is the structure that the rig drives, checks and measures.
pub(crate) struct IndexedHeap(BinaryHeap);

impl IndexedHeap {
    /// An empty heap for tasks below `tasks`.
    pub(crate) fn for_tasks(tasks: usize) -> IndexedHeap {
        IndexedHeap(BinaryHeap::with_room(tasks))
    }
    #[inline]
    pub(crate) fn peek(&self) -> Option<Key> {
        self.0.peek().map(|entry| Key::new(entry.urgency, entry.task as usize))
    }
    /// Puts the key in; one of the same task is replaced.
    #[inline]
    pub(crate) fn insert(&mut self, key: Key) {
        self.0.insert(Entry { urgency: key.time().as_nanos(), task: key.place() as u32 });
    }
    /// Takes the task's entry out, if it has one.
    #[inline]
    pub(crate) fn remove(&mut self, task: usize) {
        self.0.remove(task as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The n-th of a sequence that visits many urgencies and repeats some.
    fn urgency(n: usize) -> u64 {
        (n as u64 * 7_919) % 31
    }

    #[test]
    fn keys_come_out_in_the_order_of_urgency_and_then_of_place() {
        let mut heap = Heap::with_capacity(50);
        let mut sorted: Vec<Key> = (0..50).map(|n| Key::new(urgency(n), n)).collect();
        sorted.iter().for_each(|key| heap.push(*key));
        sorted.sort();
        for (n, key) in sorted.into_iter().enumerate() {
            assert_eq!(heap.peek(), Some(key));
            if n % 2 == 0 {
                assert_eq!(heap.pop(), Some(key));
            } else {
                // The same as a pop, in two steps.
                heap.replace_first(key);
                assert_eq!(heap.pop(), Some(key));
            }
        }
        assert_eq!(heap.pop(), None);
    }

    #[test]
    fn any_entry_of_an_indexed_heap_can_be_taken_out_or_changed() {
        for victim in 0..20 {
            let mut heap = IndexedHeap::for_tasks(20);
            (0..20).for_each(|n| heap.insert(Key::new(urgency(n), n)));
            heap.remove(victim);
            heap.remove(victim);
            heap.insert(Key::new(urgency(victim + 1), (victim + 3) % 20));
            let mut expected: Vec<Key> = (0..20)
                .filter(|n| *n != victim && *n != (victim + 3) % 20)
                .map(|n| Key::new(urgency(n), n))
                .chain([Key::new(urgency(victim + 1), (victim + 3) % 20)])
                .collect();
            expected.sort();
            for key in expected {
                assert_eq!(heap.peek(), Some(key), "without {victim}");
                heap.remove(key.place());
            }
            assert_eq!(heap.peek(), None);
        }
    }
}
