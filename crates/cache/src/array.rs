//! A set-associative array of lines that forgets the least recently used one first.
//!
//! What a set does is told in `set.rs`. The array chooses the set, and knows nothing of levels or coherence. Where a line is mostly not
//! here, that is seen in place, and only what is done with one that may be here is called.

use crate::caches::Lines;
use crate::geometry::{Index, Shape};
use crate::line::{Line, State};
use crate::set::{Filled, Key, Ways};
use alloc::vec;
use alloc::vec::Vec;

/// The array.
#[derive(Clone, Debug)]
pub(crate) struct Array<W> {
    sets: Vec<W>,
    ways: usize,
    /// What of a number chooses the set; all of it where a hash does.
    mask: u64,
    shape: Shape,
}

impl<W: Ways> Array<W> {
    /// An empty array of this shape.
    pub(crate) fn new(shape: &Shape) -> Array<W> {
        debug_assert!(W::HASHED || shape.index == Index::Modulo);
        let mask = if shape.index == Index::Modulo { shape.sets() as u64 - 1 } else { u64::MAX };
        Array { sets: vec![W::EMPTY; shape.sets()], ways: shape.ways, mask, shape: *shape }
    }

    #[inline(always)]
    fn index(&self, number: u64) -> usize {
        if W::HASHED && self.mask == u64::MAX {
            return self.hashed(number);
        }
        (number & self.mask) as usize
    }

    #[cold]
    #[inline(never)]
    fn hashed(&self, number: u64) -> usize {
        self.shape.set_of(number)
    }

    /// The set in which a line belongs.
    #[inline(always)]
    pub(crate) fn set(&mut self, number: u64) -> &mut W {
        let at = self.index(number);
        &mut self.sets[at]
    }

    #[inline(always)]
    fn known(&self, number: u64) -> &W {
        &self.sets[self.index(number)]
    }

    /// Finds a line and makes it the most recently used of its set.
    #[inline(always)]
    pub(crate) fn touch(&mut self, key: Key) -> Option<(usize, Line)> {
        let set = self.set(key.number);
        let way = set.find(key)?;
        set.to_front(way);
        Some((way, *set.line(way)))
    }

    /// Finds a line and leaves the order alone.
    #[inline(always)]
    pub(crate) fn find(&mut self, key: Key) -> Option<&mut Line> {
        let set = self.set(key.number);
        let way = set.find(key)?;
        Some(set.line(way))
    }

    /// The state of a line; [`State::Invalid`] if it is not here.
    #[inline(always)]
    pub(crate) fn state(&self, key: Key) -> State {
        let set = self.known(key.number);
        if set.may_hold(key) {
            state(set, key)
        } else {
            State::Invalid
        }
    }

    /// Whether a line is here, most likely in this way.
    #[inline(always)]
    pub(crate) fn has(&self, way: usize, key: Key) -> bool {
        self.known(key.number).is_in(way, key.number) || self.state(key) != State::Invalid
    }

    /// Changes the state of a line, if it is here.
    #[inline(always)]
    pub(crate) fn set_state(&mut self, key: Key, state: State) {
        let set = self.set(key.number);
        if set.may_hold(key) {
            set_state(set, key, state);
        }
    }

    /// Puts a line that is not here in front of its set.
    #[inline(always)]
    pub(crate) fn insert(&mut self, key: Key, line: Line) -> Filled {
        let ways = self.ways;
        self.set(key.number).insert(ways, key, line)
    }

    /// Takes a line out, if it is here; the state in which it was.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: Key) -> State {
        let ways = self.ways;
        let set = self.set(key.number);
        if set.may_hold(key) {
            remove(set, ways, key)
        } else {
            State::Invalid
        }
    }

    /// Makes a line invalid, if it is here; the state in which it was. Its number stays until the way is needed.
    #[inline(always)]
    pub(crate) fn invalidate(&mut self, key: Key) -> State {
        let ways = self.ways;
        let set = self.set(key.number);
        if set.may_hold(key) {
            invalidate(set, ways, key)
        } else {
            State::Invalid
        }
    }

    /// The same in place, for where most lines are here.
    #[inline(always)]
    pub(crate) fn invalidate_here(&mut self, key: Key) -> State {
        let ways = self.ways;
        self.set(key.number).invalidate(ways, key)
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.sets.fill(W::EMPTY);
    }

    /// The lines of every set in the order of use: what decides about the next access.
    pub(crate) fn lines(&self) -> Lines {
        Lines::new(self.sets.iter().flat_map(|set| (0..self.ways).map(|turns| set.used(turns))).collect())
    }
}

#[inline(never)]
fn state<W: Ways>(set: &W, key: Key) -> State {
    set.state(key)
}

#[inline(never)]
fn set_state<W: Ways>(set: &mut W, key: Key, state: State) {
    if let Some(way) = set.find(key) {
        set.line(way).set_state(state);
    }
}

#[inline(never)]
fn remove<W: Ways>(set: &mut W, ways: usize, key: Key) -> State {
    set.remove(ways, key)
}

#[inline(never)]
fn invalidate<W: Ways>(set: &mut W, ways: usize, key: Key) -> State {
    set.invalidate(ways, key)
}
