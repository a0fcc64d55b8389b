//! A set-associative array of lines that forgets the least recently used one first.
//!
//! A set is kept in order of use, most recent first; ways without a valid line come last. So a hit moves a line to the front and
//! a fill drops the last. The array knows nothing of levels or coherence.

use crate::geometry::{Index, Shape};
use crate::line::{Line, Owner, State};
use alloc::vec;
use alloc::vec::Vec;

/// The array.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Array {
    lines: Vec<Line>,
    ways: usize,
    mask: u64,
    shape: Shape,
}

/// Where a line stands in its set.
#[inline]
fn position(set: &[Line], number: u64) -> Option<usize> {
    set.iter().position(|line| line.is(number))
}

/// What a fill did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Filled {
    /// The valid line that had to go.
    pub victim: Option<Line>,
    /// Whether an invalidated copy of the same line stood here.
    pub was_invalidated: bool,
}

impl Array {
    /// An empty array of this shape.
    pub fn new(shape: &Shape) -> Array {
        let mask = shape.sets() as u64 - 1;
        Array { lines: vec![Line::EMPTY; shape.sets() * shape.ways], ways: shape.ways, mask, shape: *shape }
    }

    #[inline]
    fn first(&self, number: u64) -> usize {
        let set = match self.shape.index {
            Index::Modulo => (number & self.mask) as usize,
            Index::SandyBridge4 => self.shape.set_of(number),
        };
        set * self.ways
    }

    /// The ways of the set in which line `number` belongs, most recently used first.
    #[inline]
    fn set(&mut self, number: u64) -> &mut [Line] {
        let first = self.first(number);
        &mut self.lines[first..first + self.ways]
    }

    /// Finds a line and makes it the most recently used of its set.
    #[inline]
    pub fn touch(&mut self, number: u64) -> Option<&mut Line> {
        let set = self.set(number);
        if !set[0].is(number) {
            let at = position(set, number)?;
            let line = set[at];
            for way in (0..at).rev() {
                set[way + 1] = set[way];
            }
            set[0] = line;
        }
        Some(&mut set[0])
    }

    /// Finds a line and leaves the order alone.
    #[inline]
    pub fn find(&mut self, number: u64) -> Option<&mut Line> {
        let set = self.set(number);
        position(set, number).map(|at| &mut set[at])
    }

    /// The state of a line; [`State::Invalid`] if it is not here.
    #[inline]
    pub fn state(&self, number: u64) -> State {
        let first = self.first(number);
        let set = &self.lines[first..first + self.ways];
        position(set, number).map_or(State::Invalid, |at| set[at].state())
    }

    /// Puts a line that is not here in front of its set.
    #[inline]
    pub fn insert(&mut self, number: u64, state: State, owner: Owner) -> Filled {
        let set = self.set(number);
        let last = set.len() - 1;
        let mut at = last;
        if !set[last].is_valid() {
            at = set.iter().position(|line| line.was(number)).unwrap_or(last);
        }
        let old = set[at];
        set.copy_within(0..at, 1);
        set[0] = Line::new(number, state, owner);
        Filled { victim: old.is_valid().then_some(old), was_invalidated: old.was(number) }
    }

    /// Takes a line out, if it is here.
    #[inline]
    pub fn remove(&mut self, number: u64) -> Option<Line> {
        self.take(number, Line::EMPTY)
    }

    /// Makes a line invalid, if it is here. Its number stays until the way is needed.
    #[inline]
    pub fn invalidate(&mut self, number: u64) -> Option<Line> {
        self.take(number, Line::new(number, State::Invalid, Owner(0)))
    }

    #[inline]
    fn take(&mut self, number: u64, left: Line) -> Option<Line> {
        let set = self.set(number);
        let at = position(set, number)?;
        let line = set[at];
        set[at] = left;
        set[at..].rotate_left(1);
        Some(line)
    }

    /// Every line that is here, in no order that means anything.
    pub fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        self.lines.iter().copied().filter(|line| line.is_valid())
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.lines.fill(Line::EMPTY);
    }
}
