//! The releases to come of one core, the next one first.
//!
//! The next one lies outside the heap of the others. So a release whose follower is put in its place needs no work on the heap
//! at once: what is next after it is known without, and the heap is put in order when the core has time for it.

use crate::heap::{Heap, Key};
use core::cmp::Ordering;
use tactus_structures::queue::FirstHeap;
use tactus_time::{Duration, Instant};

/// See above. One entry per task at most.
pub(crate) struct Releases {
    /// [`Key::NONE`] if there is none.
    first: Key,
    /// The first of the others, which lie in one of the two heaps; [`Key::NONE`] if there are none.
    second: Key,
    /// `first` is new and perhaps not the next one.
    loose: bool,
    /// Which of the two it is.
    is_far: bool,
    /// Where all lie near each other.
    near: FirstHeap<Near>,
    /// Where they do not.
    far: Heap,
}

/// A key in one word, since comparing is what takes the time: the lower 48 bits of the nanoseconds, then the place. The order
/// is right among keys that lie less than [`WINDOW`] apart, however long the system runs.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Near(u64);

/// 2^46 ns: about 19 hours.
const WINDOW: Duration = Duration::from_nanos(1 << 46);
const PLACE_BITS: u32 = 16;

impl Near {
    #[inline(always)]
    fn new(key: Key) -> Near {
        Near(key.time().as_nanos() << PLACE_BITS | key.place() as u64)
    }
    /// The whole key, whose time is not far from that of another one.
    #[inline(always)]
    fn whole(self, near: Key) -> Key {
        let apart = self.0.wrapping_sub(Near::new(near).0 & !0xffff) as i64 >> PLACE_BITS;
        let time = near.time().as_nanos().wrapping_add_signed(apart);
        Key::new(time, usize::from(self.0 as u16))
    }
}

impl Ord for Near {
    #[inline(always)]
    fn cmp(&self, other: &Near) -> Ordering {
        (self.0.wrapping_sub(other.0) as i64).cmp(&0)
    }
}

impl PartialOrd for Near {
    #[inline(always)]
    fn partial_cmp(&self, other: &Near) -> Option<Ordering> {
        Some(self.cmp(other))
    }
    #[inline(always)]
    fn lt(&self, other: &Near) -> bool {
        (self.0.wrapping_sub(other.0) as i64) < 0
    }
}

impl Releases {
    /// None, with room for so many. No two that are in it at a time lie more than `apart` from each other.
    pub(crate) fn with_capacity(capacity: usize, apart: Duration) -> Releases {
        let is_far = apart >= WINDOW || capacity > 1 << PLACE_BITS;
        let room = |wanted| if wanted { capacity } else { 0 };
        let (near, far) = (FirstHeap::with_capacity(room(!is_far)), Heap::with_capacity(room(is_far)));
        Releases { first: Key::NONE, second: Key::NONE, loose: false, is_far, near, far }
    }
    pub(crate) fn push(&mut self, key: Key) {
        self.settle();
        let later = key.max(self.first);
        self.first = key.min(self.first);
        match later {
            Key::NONE => return,
            later if self.is_far => self.far.push(later),
            later => self.near.push(Near::new(later)),
        }
        self.second = self.others();
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
        self.second.time()
    }
    /// The time of the next one, whatever the order; never, if there is none.
    #[inline(always)]
    pub(crate) fn next(&self) -> Instant {
        self.first.time().min(self.second.time())
    }
    /// Takes the next one out.
    pub(crate) fn pop(&mut self) {
        self.first = self.second;
        if self.is_far {
            self.far.pop();
        } else {
            self.near.pop();
        }
        self.second = self.others();
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
        if self.loose {
            self.loose = false;
            if self.second < self.first {
                self.turn();
            }
        }
    }
    /// The second comes first.
    #[inline(never)]
    fn turn(&mut self) {
        if self.is_far {
            return self.turn_far();
        }
        let key = core::mem::replace(&mut self.first, self.second);
        self.near.replace_first(Near::new(key));
        if let Some(near) = self.near.peek() {
            self.second = near.whole(self.first);
        }
    }
    #[cold]
    #[inline(never)]
    fn turn_far(&mut self) {
        let key = core::mem::replace(&mut self.first, self.second);
        self.far.replace_first(key);
        self.second = self.others();
    }
    /// The first of the others, none of which is far from `first`.
    #[inline(always)]
    fn others(&self) -> Key {
        match self.is_far {
            false => self.near.peek().map_or(Key::NONE, |near| near.whole(self.first)),
            true => self.far.peek().unwrap_or(Key::NONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn releases_come_in_the_order_of_sorting_however_late_they_are_put_in_order() {
        for (stride, apart) in (1..40).flat_map(|stride| [(stride, Duration::ZERO), (stride, WINDOW)]) {
            let mut releases = Releases::with_capacity(12, apart);
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
