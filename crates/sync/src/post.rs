//! Post between two cores, without locks: one writes, the other reads, neither ever waits.
//!
//! [`MessageRing`] keeps a few messages in their order. [`TripleBuffer`] keeps one, the last that was written: three places, of
//! which the writer has one, the reader one, and the third goes to and fro by one exchange.
//!
//! A message is a fixed number of words. The words are atomics only so that no unsafe code is needed; what orders them is
//! the one index that is exchanged after they were written.

use crate::facade::{AtomicU32, AtomicU64, Ordering};
use core::array::from_fn;

fn words<const N: usize>() -> [AtomicU64; N] {
    from_fn(|_| AtomicU64::new(0))
}

fn put<const N: usize>(place: &[AtomicU64; N], message: &[u64; N]) {
    for (place, word) in place.iter().zip(message) {
        place.store(*word, Ordering::Relaxed);
    }
}

fn take<const N: usize>(place: &[AtomicU64; N]) -> [u64; N] {
    from_fn(|n| place[n].load(Ordering::Relaxed))
}

/// Up to `ROOM` messages of `N` words on their way.
pub struct MessageRing<const N: usize, const ROOM: usize> {
    places: [[AtomicU64; N]; ROOM],
    written: AtomicU32,
    read: AtomicU32,
}

impl<const N: usize, const ROOM: usize> MessageRing<N, ROOM> {
    /// None on their way.
    pub fn new() -> Self {
        MessageRing { places: from_fn(|_| words()), written: AtomicU32::new(0), read: AtomicU32::new(0) }
    }

    /// Sends one; false if there is no room. For one core only.
    #[inline]
    pub fn send(&self, message: &[u64; N]) -> bool {
        let written = self.written.load(Ordering::Relaxed);
        // Acquires the reader's leave to write there again.
        if written.wrapping_sub(self.read.load(Ordering::Acquire)) as usize == ROOM {
            return false;
        }
        put(&self.places[written as usize % ROOM], message);
        self.written.store(written.wrapping_add(1), Ordering::Release);
        true
    }

    /// Takes the oldest. For one core only.
    #[inline]
    pub fn receive(&self) -> Option<[u64; N]> {
        let read = self.read.load(Ordering::Relaxed);
        if self.written.load(Ordering::Acquire) == read {
            return None;
        }
        let message = take(&self.places[read as usize % ROOM]);
        self.read.store(read.wrapping_add(1), Ordering::Release);
        Some(message)
    }
}

impl<const N: usize, const ROOM: usize> Default for MessageRing<N, ROOM> {
    fn default() -> Self {
        MessageRing::new()
    }
}

/// Set in the index that goes to and fro when nobody has read what lies there.
const UNREAD: u32 = 4;

/// One message of `N` words, which the next one replaces.
pub struct TripleBuffer<const N: usize> {
    places: [[AtomicU64; N]; 3],
    /// The place that belongs to nobody.
    between: AtomicU32,
    writers: AtomicU32,
    readers: AtomicU32,
}

impl<const N: usize> TripleBuffer<N> {
    /// Nothing to read.
    pub fn new() -> Self {
        TripleBuffer {
            places: from_fn(|_| words()),
            between: AtomicU32::new(1),
            writers: AtomicU32::new(0),
            readers: AtomicU32::new(2),
        }
    }

    /// Writes one in place of the last one. For one core only.
    #[inline]
    pub fn write(&self, message: &[u64; N]) {
        let mine = self.writers.load(Ordering::Relaxed);
        put(&self.places[mine as usize], message);
        // Releases what was written and acquires the reader's leave to write over what comes back.
        let back = self.between.swap(mine | UNREAD, Ordering::AcqRel);
        self.writers.store(back & !UNREAD, Ordering::Relaxed);
    }

    /// Reads the last one, if it was not read before. For one core only.
    #[inline]
    pub fn read(&self) -> Option<[u64; N]> {
        if self.between.load(Ordering::Relaxed) & UNREAD == 0 {
            return None;
        }
        let mine = self.readers.load(Ordering::Relaxed);
        let got = self.between.swap(mine, Ordering::AcqRel) & !UNREAD;
        self.readers.store(got, Ordering::Relaxed);
        Some(take(&self.places[got as usize]))
    }
}

impl<const N: usize> Default for TripleBuffer<N> {
    fn default() -> Self {
        TripleBuffer::new()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn letters_come_in_their_order_and_none_is_taken_when_there_is_no_room() {
        let letters: MessageRing<1, 2> = MessageRing::new();
        assert!(letters.send(&[1]) && letters.send(&[2]) && !letters.send(&[3]));
        assert_eq!(letters.receive(), Some([1]));
        assert!(letters.send(&[4]));
        assert_eq!([letters.receive(), letters.receive(), letters.receive()], [Some([2]), Some([4]), None]);
    }

    #[test]
    fn only_the_newest_is_read_and_once() {
        let newest: TripleBuffer<2> = TripleBuffer::new();
        assert_eq!(newest.read(), None);
        newest.write(&[1, 1]);
        newest.write(&[2, 2]);
        assert_eq!(newest.read(), Some([2, 2]));
        assert_eq!(newest.read(), None);
        newest.write(&[3, 3]);
        assert_eq!(newest.read(), Some([3, 3]));
    }

    #[test]
    fn two_threads_see_whole_messages_and_lose_no_letter() {
        let (letters, newest) = (MessageRing::<2, 4>::new(), TripleBuffer::<2>::new());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 1..=2_000 {
                    newest.write(&[n, !n]);
                    while !letters.send(&[n, !n]) {
                        std::thread::yield_now();
                    }
                }
            });
            let (mut expected, mut last) = (1, 0);
            while expected <= 2_000 {
                if let Some([n, not]) = newest.read() {
                    assert!(not == !n && n > last, "{n} after {last}");
                    last = n;
                }
                match letters.receive() {
                    Some(letter) => {
                        assert_eq!(letter, [expected, !expected]);
                        expected += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
        });
    }
}
