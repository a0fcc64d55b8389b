//! The releases to come of one core, the next one first.
//!
//! The next one lies outside the heap of the others. So a release whose follower is put in its place needs no work on the heap
//! at once: what is next after it is known without, and the heap is put in order when the core has time for it.

use crate::heap::{Heap, Key};
use tactus_time::Instant;

/// See above. One entry per task at most.
pub(crate) struct Releases {
    /// [`NONE`] if there is none.
    first: Key,
    /// `first` is new and perhaps not the next one.
    loose: bool,
    rest: Heap,
}

impl Releases {
    /// None, with room for so many.
    pub(crate) fn with_capacity(capacity: usize) -> Releases {
        Releases { first: Key::NONE, loose: false, rest: Heap::with_capacity(capacity) }
    }
    pub(crate) fn push(&mut self, key: Key) {
        self.settle();
        let later = key.max(self.first);
        self.first = key.min(self.first);
        if later != Key::NONE {
            self.rest.push(later);
        }
    }
    /// The next one. Only after [`Releases::settle`].
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<Key> {
        (self.first != Key::NONE).then_some(self.first)
    }
    /// As [`Releases::peek`]; if there is none, [`Key::NONE`], whose place is no task's.
    #[inline(always)]
    pub(crate) fn first(&self) -> Key {
        self.first
    }
    /// The time of the one after it; never, if there is none.
    #[inline(always)]
    pub(crate) fn second(&self) -> Instant {
        self.rest.peek().map_or(Instant::NEVER, Key::time)
    }
    /// Takes the next one out.
    pub(crate) fn pop(&mut self) {
        self.first = self.rest.pop().unwrap_or(Key::NONE);
    }
    /// Puts `key` in the place of the next one.
    #[inline(always)]
    pub(crate) fn replace_first(&mut self, key: Key) {
        self.replace_first_later(key);
        self.settle();
    }
    /// The same, but the order is wrong until [`Releases::settle`].
    #[inline(always)]
    pub(crate) fn replace_first_later(&mut self, key: Key) {
        (self.first, self.loose) = (key, true);
    }
    /// Finds the next one.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        if !self.loose {
            return;
        }
        self.loose = false;
        if let Some(next) = self.rest.peek().filter(|next| *next < self.first) {
            self.rest.replace_first(self.first);
            self.first = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn releases_come_in_the_order_of_sorting_however_late_they_are_put_in_order() {
        for stride in 1..40 {
            let mut releases = Releases::with_capacity(12);
            let mut sorted: Vec<Key> = (0..12).map(|n| Key::new((n as u64 * 7 + stride) % 31, n)).collect();
            sorted.iter().for_each(|key| releases.push(*key));
            for step in 0..60 {
                sorted.sort();
                releases.settle();
                assert_eq!(releases.peek(), sorted.first().copied());
                assert_eq!(releases.second(), sorted.get(1).map_or(Instant::NEVER, |key| key.time()));
                if step % 6 == 5 {
                    sorted.remove(0);
                    releases.pop();
                } else if let Some(first) = sorted.first_mut() {
                    *first = Key::new(first.time().as_nanos() + 1 + step * stride % 17, first.place());
                    if step % 2 == 0 {
                        releases.replace_first_later(*first);
                    } else {
                        releases.replace_first(*first);
                    }
                }
            }
        }
    }
}
