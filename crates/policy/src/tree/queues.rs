//! The ready queues of a domain: heaps of keys, smallest first. An entity (a task, or a server on one core) is in one
//! queue at most, always the same one.

use crate::heap::Key;
use alloc::vec::Vec;

const OUT: u32 = u32::MAX;

/// All queues.
pub(crate) struct Queues {
    heaps: Vec<Vec<Key>>,
    /// By entity: the queue that it belongs to, and where its key is.
    home: Vec<u32>,
    place: Vec<u32>,
}

/// See [`Queues::first_queue`].
pub(crate) struct FirstQueue<'a> {
    heap: &'a mut Vec<Key>,
    places: &'a mut Vec<u32>,
}

impl FirstQueue<'_> {
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<Key> {
        self.heap.first().copied()
    }
    /// Whether a key may be added; so it is where the entity is in no queue. Who looks before has no call in its way.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.heap.len() < self.heap.capacity()
    }
    /// Puts the key of an entity in that is in no queue, where this one is empty.
    #[inline(always)]
    pub(crate) fn add_only(mut self, key: Key) {
        debug_assert!(self.heap.is_empty() && self.places[key.place()] == OUT);
        self.heap.push(key);
        self.note(key, 0);
    }
    /// Puts the key of an entity in that is in no queue and before the first one here, hence before all.
    #[inline(always)]
    pub(crate) fn add_before(mut self, first: Key, key: Key) {
        debug_assert!(self.peek() == Some(first) && key < first && self.places[key.place()] == OUT);
        let mut hole = self.heap.len();
        self.heap.push(first);
        // Mostly that was the only one.
        if let [top, _] = &mut self.heap[..] {
            *top = key;
            self.note(first, 1);
            return self.note(key, 0);
        }
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let (heap, places) = (&mut self.heap[..], &mut self.places[..]);
            let (Some(above), Some(below)) = (heap.get(parent).copied(), heap.get_mut(hole)) else { return };
            *below = above;
            if let Some(place) = places.get_mut(above.place()) {
                *place = hole as u32;
            }
            hole = parent;
        }
        if let Some(top) = self.heap.first_mut() {
            *top = key;
        }
        self.note(key, 0);
    }
    #[inline(always)]
    fn note(&mut self, key: Key, place: usize) {
        if let Some(of) = self.places.get_mut(key.place()) {
            *of = place as u32;
        }
    }
}

impl Queues {
    /// Empty queues. `home` says which queue each entity belongs to.
    pub(crate) fn new(queues: usize, home: Vec<u32>) -> Queues {
        let mut room = alloc::vec![0; queues];
        home.iter().for_each(|queue| room[*queue as usize] += 1);
        Queues { heaps: room.into_iter().map(Vec::with_capacity).collect(), place: alloc::vec![OUT; home.len()], home }
    }
    #[inline]
    pub(crate) fn peek(&self, queue: usize) -> Option<Key> {
        self.heaps[queue].first().copied()
    }
    /// The key after the smallest one.
    pub(crate) fn second(&self, queue: usize) -> Option<Key> {
        let heap = &self.heaps[queue];
        heap.get(1).copied().into_iter().chain(heap.get(2).copied()).min()
    }
    #[inline]
    pub(crate) fn len(&self, queue: usize) -> usize {
        self.heaps[queue].len()
    }
    #[inline]
    pub(crate) fn contains(&self, entity: usize) -> bool {
        self.place[entity] != OUT
    }
    /// Puts the key of an entity in; the one that it had is replaced.
    #[inline]
    pub(crate) fn insert(&mut self, key: Key) {
        let (queue, place) = (self.home[key.place()] as usize, self.place[key.place()]);
        if place == OUT {
            let end = self.heaps[queue].len();
            self.heaps[queue].push(key);
            self.rise(queue, end, key);
        } else {
            self.settle(queue, place as usize, key);
        }
    }
    /// As [`Queues::insert`] for an entity that is in no queue, where it is known which one it belongs to.
    #[inline(always)]
    pub(crate) fn add(&mut self, queue: usize, key: Key) {
        let Some(heap) = self.heaps.get_mut(queue) else { return };
        debug_assert!(self.home[key.place()] as usize == queue && self.place[key.place()] == OUT);
        heap.push(key);
        let (heap, places) = (&mut heap[..], &mut self.place[..]);
        let mut hole = heap.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let above = heap[parent];
            if above < key {
                break;
            }
            (heap[hole], heap[parent]) = (above, key);
            if let Some(place) = places.get_mut(above.place()) {
                *place = hole as u32;
            }
            hole = parent;
        }
        if let Some(place) = places.get_mut(key.place()) {
            *place = hole as u32;
        }
    }
    /// The first queue, where it is the only one with tasks.
    #[inline(always)]
    pub(crate) fn first_queue(&mut self) -> Option<FirstQueue<'_>> {
        Some(FirstQueue { heap: self.heaps.first_mut()?, places: &mut self.place })
    }
    /// Puts the key of another entity of the queue in the place of this one's, if that is in it and nothing else is. Whether it was so.
    #[inline(always)]
    pub(crate) fn replace_only(&mut self, queue: usize, entity: usize, key: Key) -> bool {
        match self.heaps.get_mut(queue).map(|heap| &mut heap[..]) {
            Some([only]) if only.place() == entity => *only = key,
            _ => return false,
        }
        for (entity, place) in [(entity, OUT), (key.place(), 0)] {
            if let Some(of) = self.place.get_mut(entity) {
                *of = place;
            }
        }
        true
    }
    /// Puts an entity's key into its queue, if nothing is in that. Whether it was so.
    #[inline(always)]
    pub(crate) fn insert_only(&mut self, queue: usize, key: Key) -> bool {
        match (self.heaps.get_mut(queue), self.place.get_mut(key.place())) {
            (Some(heap), Some(place)) if heap.is_empty() => {
                heap.push(key);
                *place = 0;
                true
            }
            _ => false,
        }
    }
    /// Takes the entity's key out, if it is in.
    #[inline]
    pub(crate) fn remove(&mut self, entity: usize) {
        let place = core::mem::replace(&mut self.place[entity], OUT);
        if place == OUT {
            return;
        }
        let queue = self.home[entity] as usize;
        let Some(last) = self.heaps[queue].pop() else { return };
        if place as usize != self.heaps[queue].len() {
            self.settle(queue, place as usize, last);
        }
    }
    fn settle(&mut self, queue: usize, hole: usize, key: Key) {
        if hole > 0 && key < self.heaps[queue][(hole - 1) / 2] {
            self.rise(queue, hole, key);
        } else {
            self.sink(queue, hole, key);
        }
    }
    fn rise(&mut self, queue: usize, mut hole: usize, key: Key) {
        let heap = self.heaps[queue].as_mut_slice();
        while hole > 0 {
            let parent = (hole - 1) / 2;
            let above = heap[parent];
            if above < key {
                break;
            }
            heap[hole] = above;
            self.place[above.place()] = hole as u32;
            hole = parent;
        }
        heap[hole] = key;
        self.place[key.place()] = hole as u32;
    }
    fn sink(&mut self, queue: usize, mut hole: usize, key: Key) {
        let heap = self.heaps[queue].as_mut_slice();
        loop {
            let mut child = 2 * hole + 1;
            if child >= heap.len() {
                break;
            }
            if child + 1 < heap.len() && heap[child + 1] < heap[child] {
                child += 1;
            }
            let below = heap[child];
            if key < below {
                break;
            }
            heap[hole] = below;
            self.place[below.place()] = hole as u32;
            hole = child;
        }
        heap[hole] = key;
        self.place[key.place()] = hole as u32;
    }
}
