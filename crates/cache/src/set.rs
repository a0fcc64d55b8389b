//! The ways of one set: found by their marks, kept in the order of their use.
//!
//! Of each line one byte of its number, its *mark*, stands in a word with those of seven others. That a line is not here, the common
//! case at every level but the first, is seen from the marks; where one is here, they say in which way. How recently ways were used is
//! a word, too (`order.rs`), so that no line ever moves. Ways without a valid line come last in that order.

use crate::line::{Line, State};
use crate::order::Order;

/// Each byte 1; times a mark, that mark in each of them.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each byte; no mark has it.
const HIGH: u64 = ONES << 7;

/// 2⁶⁴ divided by the golden ratio: the highest bits of a product with it depend on all bits of the other factor (Knuth, volume 3, 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

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
    /// The mark is 1 to 127 and takes in all bits of the number, so that it tells lines of one set apart in small arrays and large. That
    /// of an empty way is 0.
    #[inline(always)]
    pub(crate) const fn new(number: u64) -> Key {
        let mark = number.wrapping_mul(GOLDEN) >> 57;
        Key { number, marks: (mark + (mark == 0) as u64) * ONES }
    }
}

/// What a fill did.
#[derive(Clone, Copy)]
pub(crate) struct Filled {
    /// Where the line stands now.
    pub(crate) way: usize,
    /// The valid line that had to go; an empty way if none had.
    pub(crate) victim: Line,
    /// By what that line is looked for; of an empty way it means nothing.
    pub(crate) key: Key,
    /// Whether an invalidated copy of the same line stood here.
    pub(crate) was_invalidated: bool,
}

/// A set. Where it has fewer ways than there is room for, it is told how many.
pub(crate) trait Ways: Copy + core::fmt::Debug {
    /// Whether arrays of such sets may be asked to choose them by a hash.
    const HASHED: bool;

    /// Without a line.
    const EMPTY: Self;

    /// Whether a line may be here: cheap, and mostly right.
    fn may_hold(&self, key: Key) -> bool;

    /// The way of a line.
    fn find(&self, key: Key) -> Option<usize>;

    /// The line in a way.
    fn line(&mut self, way: usize) -> &mut Line;

    /// The state of a line; invalid where it is not here.
    fn state(&self, key: Key) -> State;

    /// A way is the most recently used.
    fn to_front(&mut self, way: usize);

    /// The line that was used last.
    fn newest(&mut self) -> &mut Line;

    /// Whether a line stands in this way.
    fn is_in(&self, way: usize, number: u64) -> bool;

    /// Finds a line and makes it the most recently used, where most accesses are to the line that was used last. If it is not here, by
    /// what to look for it elsewhere.
    fn touch_again(&mut self, number: u64) -> Result<Line, Key>;

    /// Puts a line that is not here in front.
    fn insert(&mut self, ways: usize, key: Key, line: Line) -> Filled;

    /// Takes a line out, if it is here; the state in which it was.
    fn remove(&mut self, ways: usize, key: Key) -> State;

    /// Makes a line invalid, if it is here; the state in which it was. Its number stays until the way is needed.
    fn invalidate(&mut self, ways: usize, key: Key) -> State;

    /// The line that was used this number of uses ago.
    fn used(&self, turns: usize) -> Line;
}

/// A set of up to eight times `WORDS` ways.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Set<const WORDS: usize, O, const HASHED: bool> {
    marks: [[u8; MARKS]; WORDS],
    order: O,
    lines: [[Line; MARKS]; WORDS],
}

impl<const WORDS: usize, O: Order, const HASHED: bool> Set<WORDS, O, HASHED> {
    /// A bit for each way that has the mark of `key`: of word *w*, way *i* is bit *8 i + w*, or of the only word bit *8 i + 7*.
    #[inline(always)]
    fn marked(&self, key: Key) -> u64 {
        let mut all = 0;
        for (word, marks) in self.marks.iter().enumerate() {
            // No byte borrows from the next, and only one that is equal leaves its highest bit.
            let equal = (HIGH - (u64::from_le_bytes(*marks) ^ key.marks)) & HIGH;
            all |= if WORDS == 1 { equal } else { equal >> (7 - word) };
        }
        all
    }

    /// The way with the mark of `key` of which `wanted` is true.
    #[inline(always)]
    fn search(&self, key: Key, wanted: impl Fn(Line) -> bool) -> Option<usize> {
        let mut marked = self.marked(key);
        while marked != 0 {
            let bit = marked.trailing_zeros() as usize;
            let way = if WORDS == 1 { bit / 8 } else { bit % 8 * MARKS + bit / 8 };
            if wanted(self.get(way)) {
                return Some(way);
            }
            marked &= marked - 1;
        }
        None
    }

    #[inline(always)]
    fn get(&self, way: usize) -> Line {
        self.lines[way / MARKS % WORDS][way % MARKS]
    }

    #[inline(always)]
    fn mark(&mut self, way: usize) -> &mut u8 {
        &mut self.marks[way / MARKS % WORDS][way % MARKS]
    }
}

impl<const WORDS: usize, O: Order, const HASHED: bool> Ways for Set<WORDS, O, HASHED> {
    const HASHED: bool = HASHED;

    const EMPTY: Set<WORDS, O, HASHED> =
        Set { marks: [[0; MARKS]; WORDS], order: O::START, lines: [[Line::EMPTY; MARKS]; WORDS] };

    #[inline(always)]
    fn may_hold(&self, key: Key) -> bool {
        self.marked(key) != 0
    }

    #[inline(always)]
    fn find(&self, key: Key) -> Option<usize> {
        let invalidated = Line::invalidated(key.number);
        self.search(key, |line| line.is_copy_of(invalidated))
    }

    #[inline(always)]
    fn line(&mut self, way: usize) -> &mut Line {
        &mut self.lines[way / MARKS % WORDS][way % MARKS]
    }

    #[inline(always)]
    fn state(&self, key: Key) -> State {
        self.find(key).map_or(State::Invalid, |way| self.get(way).state())
    }

    #[inline(always)]
    fn to_front(&mut self, way: usize) {
        self.order.to_front(way);
    }

    #[inline(always)]
    fn newest(&mut self) -> &mut Line {
        self.line(self.order.at(0))
    }

    #[inline(always)]
    fn is_in(&self, way: usize, number: u64) -> bool {
        self.get(way).is_copy_of(Line::invalidated(number))
    }

    #[inline(always)]
    fn touch_again(&mut self, number: u64) -> Result<Line, Key> {
        let line = self.get(self.order.at(0));
        if line.is_copy_of(Line::invalidated(number)) {
            return Ok(line);
        }
        let key = Key::new(number);
        let way = self.find(key).ok_or(key)?;
        self.order.to_front(way);
        Ok(self.get(way))
    }

    #[inline(always)]
    fn insert(&mut self, ways: usize, key: Key, line: Line) -> Filled {
        let last = self.order.at(ways - 1);
        let victim = self.get(last);
        if victim.is_valid() {
            let mark = core::mem::replace(self.mark(last), key.marks as u8);
            self.order.last_to_front(last);
            *self.line(last) = line;
            let key = Key { number: victim.number(), marks: u64::from(mark) * ONES };
            return Filled { way: last, victim, key, was_invalidated: false };
        }
        let invalidated = Line::invalidated(key.number);
        let copy = self.search(key, |line| line == invalidated);
        let way = copy.unwrap_or(last);
        self.order.to_front(way);
        *self.mark(way) = key.marks as u8;
        *self.line(way) = line;
        Filled { way, victim: Line::EMPTY, key, was_invalidated: copy.is_some() }
    }

    #[inline(always)]
    fn remove(&mut self, ways: usize, key: Key) -> State {
        let Some(way) = self.find(key) else { return State::Invalid };
        *self.mark(way) = 0;
        self.order.to_back(way, ways);
        core::mem::take(self.line(way)).state()
    }

    #[inline(always)]
    fn invalidate(&mut self, ways: usize, key: Key) -> State {
        let Some(way) = self.find(key) else { return State::Invalid };
        self.order.to_back(way, ways);
        core::mem::replace(self.line(way), Line::invalidated(key.number)).state()
    }

    #[inline(always)]
    fn used(&self, turns: usize) -> Line {
        self.get(self.order.at(turns)).without_way()
    }
}
