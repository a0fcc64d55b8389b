//! Priority queues of fixed capacity: binary heaps of keys, smallest first. They are made with room for one entry per
//! task and never allocate again.

use alloc::boxed::Box;
use tactus_structures::queue::{BinaryHeap, Entry, FirstHeap, ReadyQueue};
use tactus_time::Instant;

/// What queues are ordered by: an urgency (a time or a period, in nanoseconds), then the task's place.
///
/// One wide integer, so that a comparison is two instructions and has no branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Key(u128);

impl Key {
    /// Later than all; no task has such a number.
    pub const NONE: Key = Key(u128::MAX);

    /// The key of the task at this place with this urgency: the smaller, the more urgent.
    pub fn new(urgency: u64, place: usize) -> Key {
        Key(u128::from(urgency) << 64 | place as u128)
    }
    /// The same where a time is the urgency.
    pub fn at(time: Instant, place: usize) -> Key {
        Key::new(time.as_nanos(), place)
    }
    /// The urgency as a time.
    pub fn time(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
    /// The key of this [`Key::wide`] number.
    #[inline]
    pub fn of(wide: u128) -> Key {
        Key(wide)
    }
    /// The whole key as one number.
    #[inline]
    pub fn wide(self) -> u128 {
        self.0
    }
    /// The task's place.
    pub fn place(self) -> usize {
        self.0 as u64 as usize
    }
}

/// A heap of keys from which only the smallest is taken: the structure that the rig found to be the cheapest for that.
pub type Heap = FirstHeap<Key>;

/// A ready queue: what was preempted lies on a stack, each more urgent than what is below it, the rest in a heap. So a
/// preemption is one step, whatever waits; so is going back to what was preempted.
///
/// The most urgent of all is always the top of the stack.
pub struct Ready {
    /// As many places as there may be entries; those from `depth` on mean nothing.
    stack: Box<[Key]>,
    depth: usize,
    waiting: Heap,
}

impl Ready {
    /// An empty queue with room for `capacity` entries.
    pub fn with_capacity(capacity: usize) -> Ready {
        let stack = alloc::vec![Key(0); capacity].into_boxed_slice();
        Ready { stack, depth: 0, waiting: Heap::with_capacity(capacity) }
    }
    #[inline(always)]
    pub fn peek(&self) -> Option<Key> {
        // With nothing on the stack, the place is none.
        self.stack.get(self.depth.wrapping_sub(1)).copied()
    }
    /// Whether the key is the smallest of all.
    #[inline(always)]
    pub fn goes_first(&self, key: Key) -> bool {
        self.peek().is_none_or(|top| key < top)
    }
    /// As [`Ready::push`], for one that [`Ready::goes_first`].
    #[inline(always)]
    pub fn push_first(&mut self, key: Key) {
        if let Some(place) = self.stack.get_mut(self.depth) {
            *place = key;
            self.depth += 1;
        }
    }
    #[inline(always)]
    pub fn push(&mut self, key: Key) {
        if self.peek().is_some_and(|top| top < key) {
            return self.waiting.push(key);
        }
        if let Some(place) = self.stack.get_mut(self.depth) {
            *place = key;
            self.depth += 1;
        }
    }
    /// Takes the smallest key out.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if let Some(first) = self.waiting.peek() {
            if self.peek().is_none_or(|top| first < top) {
                self.promote(first);
            }
        }
    }
    /// Puts the first of those that wait on the stack.
    #[inline(never)]
    fn promote(&mut self, first: Key) {
        self.waiting.pop();
        if let Some(place) = self.stack.get_mut(self.depth) {
            *place = first;
            self.depth += 1;
        }
    }
    /// Puts `key` in the place of the smallest one.
    pub fn replace_first(&mut self, key: Key) {
        self.pop();
        self.push(key);
    }
}

/// A heap that knows where each task's entry is, so that any entry can be taken out. One entry per task at most. Inside
/// is the structure that the rig drives, checks and measures.
pub struct IndexedHeap(BinaryHeap);

impl IndexedHeap {
    /// An empty heap for tasks below `tasks`.
    pub fn for_tasks(tasks: usize) -> IndexedHeap {
        IndexedHeap(BinaryHeap::with_room(tasks))
    }
    /// The smallest key.
    #[inline]
    pub fn peek(&self) -> Option<Key> {
        self.0.peek().map(|entry| Key::new(entry.urgency, entry.task as usize))
    }
    /// Puts the key in; one of the same task is replaced.
    #[inline]
    pub fn insert(&mut self, key: Key) {
        self.0.insert(Entry { urgency: key.time().as_nanos(), task: key.place() as u32 });
    }
    /// Takes the task's entry out, if it has one.
    #[inline]
    pub fn remove(&mut self, task: usize) {
        self.0.remove(task as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

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
    fn a_ready_queue_gives_the_same_order_as_sorting() {
        for step in 1..40 {
            let mut ready = Ready::with_capacity(60);
            let mut expected: Vec<Key> = Vec::new();
            for n in 0..60 {
                let key = Key::new(urgency(n * step), n);
                match n % 5 {
                    3 if !expected.is_empty() => {
                        expected.remove(0);
                        ready.pop();
                    }
                    4 if !expected.is_empty() => {
                        expected[0] = key;
                        ready.replace_first(key);
                    }
                    _ => {
                        expected.push(key);
                        ready.push(key);
                    }
                }
                expected.sort();
                assert_eq!(ready.peek(), expected.first().copied(), "step {step}, after {n}");
            }
            for key in expected {
                assert_eq!(ready.peek(), Some(key));
                ready.pop();
            }
            assert_eq!(ready.peek(), None);
        }
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
