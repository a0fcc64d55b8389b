//! The ways of one set: found by their marks, kept in the order of their use.
//!
//! Of each line one byte of its number, its *mark*, stands in a word with those of seven others. That a line is not here, the common
//! case at every level but the first, is seen from the marks; where one is here, they say in which way. How recently ways were used is
//! a word, too (`order.rs`), so that no line ever moves. Ways without a valid line come last in that order.

use crate::line::{Line, State};
use crate::order::Order;

/// Each byte 1; times a mark, that mark in each of them.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Marks of a word.
const MARKS: usize = 8;

/// A line as it is looked for: computed once for all arrays.
#[derive(Clone, Copy)]
pub(crate) struct Key {
    /// Its number.
    pub(crate) number: u64,
    /// Its mark in each byte.
    marks: u64,
}

impl Key {
    /// The mark takes in all bits of the number, so that it tells lines of one set apart in small arrays and large. Its highest bit is
    /// set: that of an empty way is 0.
    #[inline(always)]
    pub(crate) const fn new(number: u64) -> Key {
        let folded = number ^ number >> 28;
        let folded = folded ^ folded >> 14;
        Key { number, marks: ((folded ^ folded >> 7) & 0x7f | 0x80) * ONES }
    }
}

/// A set of up to eight times `WORDS` ways.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Set<const WORDS: usize, O> {
    marks: [u64; WORDS],
    order: O,
    lines: [[Line; MARKS]; WORDS],
}

/// What a fill did.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    /// The valid line that had to go; an empty way if none had.
    pub(crate) victim: Line,
    /// Whether an invalidated copy of the same line stood here.
    pub(crate) was_invalidated: bool,
}

impl<const WORDS: usize, O: Order> Set<WORDS, O> {
    pub(crate) const EMPTY: Set<WORDS, O> =
        Set { marks: [0; WORDS], order: O::START, lines: [[Line::EMPTY; MARKS]; WORDS] };

    #[inline(always)]
    fn line(&mut self, way: usize) -> &mut Line {
        &mut self.lines[way / MARKS % WORDS][way % MARKS]
    }

    /// The way with the mark of `key` of which `wanted` is true.
    #[inline(always)]
    fn search(&self, key: Key, wanted: impl Fn(Line) -> bool) -> Option<usize> {
        for word in 0..WORDS {
            let other = self.marks[word] ^ key.marks;
            // A byte above one that is zero may be taken for zero, too; the line itself is looked at in any case.
            let mut zero = other.wrapping_sub(ONES) & !other & (ONES << 7);
            while zero != 0 {
                let way = zero.trailing_zeros() as usize / 8 % MARKS;
                if wanted(self.lines[word][way]) {
                    return Some(word * MARKS + way);
                }
                zero &= zero - 1;
            }
        }
        None
    }

    #[inline(always)]
    fn way(&self, key: Key) -> Option<usize> {
        let invalidated = Line::invalidated(key.number);
        self.search(key, |line| line.is_copy_of(invalidated))
    }

    /// The state of a line; invalid where it is not here.
    #[inline(always)]
    pub(crate) fn state(&self, key: Key) -> State {
        self.way(key).map_or(State::Invalid, |way| self.lines[way / MARKS % WORDS][way % MARKS].state())
    }

    /// Finds a line.
    #[inline(always)]
    pub(crate) fn find(&mut self, key: Key) -> Option<&mut Line> {
        let way = self.way(key)?;
        Some(self.line(way))
    }

    /// Finds a line and makes it the most recently used.
    #[inline(always)]
    pub(crate) fn touch(&mut self, key: Key) -> Option<&mut Line> {
        let way = self.way(key)?;
        self.order.to_front(way);
        Some(self.line(way))
    }

    /// Puts a line that is not here in front.
    #[inline(always)]
    pub(crate) fn insert(&mut self, ways: usize, key: Key, line: Line) -> Filled {
        let mut way = self.order.at(ways - 1);
        let mut victim = *self.line(way);
        let mut was_invalidated = false;
        if !victim.is_valid() {
            victim = Line::EMPTY;
            let invalidated = Line::invalidated(key.number);
            if let Some(copy) = self.search(key, |line| line == invalidated) {
                (way, was_invalidated) = (copy, true);
            }
        }
        self.mark(way, key.marks);
        *self.line(way) = line;
        self.order.to_front(way);
        Filled { victim, was_invalidated }
    }

    /// Takes a line out, if it is here; the state in which it was.
    #[inline(always)]
    pub(crate) fn remove(&mut self, ways: usize, key: Key) -> State {
        let Some(way) = self.way(key) else { return State::Invalid };
        self.mark(way, 0);
        self.take(ways, way, Line::EMPTY)
    }

    /// Makes a line invalid, if it is here; the state in which it was.
    #[inline(always)]
    pub(crate) fn invalidate(&mut self, ways: usize, key: Key) -> State {
        let Some(way) = self.way(key) else { return State::Invalid };
        self.take(ways, way, Line::invalidated(key.number))
    }

    #[inline(always)]
    fn take(&mut self, ways: usize, way: usize, left: Line) -> State {
        self.order.to_back(way, ways);
        core::mem::replace(self.line(way), left).state()
    }

    #[inline(always)]
    fn mark(&mut self, way: usize, marks: u64) {
        let (word, mask) = (&mut self.marks[way / MARKS % WORDS], 0xff << (8 * (way % MARKS)));
        *word = *word & !mask | marks & mask;
    }

    /// Its ways, the most recently used first.
    pub(crate) fn in_order(&self, ways: usize) -> impl Iterator<Item = Line> + '_ {
        let line = |way: usize| self.lines[way / MARKS % WORDS][way % MARKS];
        (0..ways).map(move |turns| line(self.order.at(turns)))
    }
}
