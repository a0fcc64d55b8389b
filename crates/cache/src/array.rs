//! A set-associative array of lines that forgets the least recently used one first.
//!
//! What a set does is told in `set.rs`. The array chooses the set, and knows nothing of levels or coherence.

use crate::geometry::{Index, Shape};
use crate::line::{Line, State};
use crate::set::{Filled, Key, Set};
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// Sets of a size that the compiler knows.
#[derive(Clone, Debug)]
enum Sets {
    Eight(Vec<Set<1, u64>>),
    Sixteen(Vec<Set<2, u64>>),
    More(Vec<Set<8, [u8; 64]>>),
}

/// The array.
#[derive(Clone, Debug)]
pub struct Array {
    sets: Sets,
    ways: usize,
    /// What of a number chooses the set; all of it where a hash does.
    mask: u64,
    shape: Shape,
}

/// What `act` makes of a set.
macro_rules! in_set {
    ($sets:expr, $at:expr, $set:ident => $act:expr) => {
        match $sets {
            Sets::Eight(sets) => {
                let $set = &mut sets[$at];
                $act
            }
            Sets::Sixteen(sets) => {
                let $set = &mut sets[$at];
                $act
            }
            Sets::More(sets) => {
                let $set = &mut sets[$at];
                $act
            }
        }
    };
}

impl Array {
    /// An empty array of this shape.
    pub fn new(shape: &Shape) -> Array {
        let sets = match shape.ways {
            ..=8 => Sets::Eight(vec![Set::EMPTY; shape.sets()]),
            9..=16 => Sets::Sixteen(vec![Set::EMPTY; shape.sets()]),
            _ => Sets::More(vec![Set::EMPTY; shape.sets()]),
        };
        let mask = if shape.index == Index::Modulo { shape.sets() as u64 - 1 } else { u64::MAX };
        Array { sets, ways: shape.ways, mask, shape: *shape }
    }

    /// The set in which a line belongs.
    #[inline(always)]
    fn index(&self, number: u64) -> usize {
        if self.mask == u64::MAX {
            return self.hashed(number);
        }
        (number & self.mask) as usize
    }

    #[cold]
    #[inline(never)]
    fn hashed(&self, number: u64) -> usize {
        self.shape.set_of(number)
    }

    /// Finds a line and makes it the most recently used of its set.
    #[inline]
    pub(crate) fn touch(&mut self, key: Key) -> Option<&mut Line> {
        let at = self.index(key.number);
        in_set!(&mut self.sets, at, set => set.touch(key))
    }

    /// Finds a line and leaves the order alone.
    #[inline]
    pub(crate) fn find(&mut self, key: Key) -> Option<&mut Line> {
        let at = self.index(key.number);
        in_set!(&mut self.sets, at, set => set.find(key))
    }

    /// The state of a line; [`State::Invalid`] if it is not here.
    pub fn state(&self, number: u64) -> State {
        self.state_of(Key::new(number))
    }

    #[inline]
    pub(crate) fn state_of(&self, key: Key) -> State {
        let at = self.index(key.number);
        match &self.sets {
            Sets::Eight(sets) => sets[at].state(key),
            Sets::Sixteen(sets) => sets[at].state(key),
            Sets::More(sets) => sets[at].state(key),
        }
    }

    /// Puts a line that is not here in front of its set.
    #[inline]
    pub(crate) fn insert(&mut self, key: Key, line: Line) -> Filled {
        let (at, ways) = (self.index(key.number), self.ways);
        in_set!(&mut self.sets, at, set => set.insert(ways, key, line))
    }

    /// Takes a line out, if it is here; the state in which it was.
    #[inline]
    pub(crate) fn remove(&mut self, key: Key) -> State {
        let (at, ways) = (self.index(key.number), self.ways);
        in_set!(&mut self.sets, at, set => set.remove(ways, key))
    }

    /// Makes a line invalid, if it is here; the state in which it was. Its number stays until the way is needed.
    #[inline]
    pub(crate) fn invalidate(&mut self, key: Key) -> State {
        let (at, ways) = (self.index(key.number), self.ways);
        in_set!(&mut self.sets, at, set => set.invalidate(ways, key))
    }

    /// Every line that is here, in no order that means anything.
    pub fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        (0..self.shape.sets()).flat_map(|at| self.in_order(at)).filter(|line| line.is_valid())
    }

    /// Empties it.
    pub fn clear(&mut self) {
        *self = Array::new(&self.shape);
    }

    /// The ways of a set in the order of use: what decides about the next access.
    fn in_order(&self, at: usize) -> Vec<Line> {
        match &self.sets {
            Sets::Eight(sets) => sets[at].in_order(self.ways).collect(),
            Sets::Sixteen(sets) => sets[at].in_order(self.ways).collect(),
            Sets::More(sets) => sets[at].in_order(self.ways).collect(),
        }
    }
}

/// Two arrays are equal where no access can tell them apart: in which way a line stands does not matter.
impl PartialEq for Array {
    fn eq(&self, other: &Array) -> bool {
        self.shape == other.shape && (0..self.shape.sets()).all(|at| self.in_order(at) == other.in_order(at))
    }
}

impl Eq for Array {}

impl Hash for Array {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.shape.hash(state);
        (0..self.shape.sets()).for_each(|at| self.in_order(at).hash(state));
    }
}
