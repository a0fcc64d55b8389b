//! Everything that stands in the caches at one moment, as plain data to look at and to compare.
//!
//! A core's copies of a line always have the same state, in whichever of its arrays they stand; so the state of a *core* is the
//! state of any copy.

use crate::line::{Line, State};
use alloc::vec::Vec;

/// The lines of one array, set by set, those of a set in the order of use. In which way a line stands does not matter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Lines(Vec<Line>);

impl Lines {
    pub(crate) const fn new(lines: Vec<Line>) -> Lines {
        Lines(lines)
    }

    /// Every valid line.
    pub fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        self.0.iter().copied().filter(|line| line.is_valid())
    }

    /// The state of a line; [`State::Invalid`] if it is not here.
    pub fn state(&self, number: u64) -> State {
        self.lines().find(|line| line.is(number)).map_or(State::Invalid, Line::state)
    }
}

/// The arrays of one core.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Core {
    /// First level for instructions.
    pub instruction: Lines,
    /// First level for data.
    pub data: Lines,
    /// Second level, if there is one.
    pub second: Option<Lines>,
}

impl Core {
    /// The state in which this core holds a line.
    pub fn state(&self, number: u64) -> State {
        let second = self.second.as_ref().map_or(State::Invalid, |array| array.state(number));
        second.max(self.data.state(number)).max(self.instruction.state(number))
    }
}

/// Everything that decides what the next access does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Caches {
    /// Private caches.
    pub cores: Vec<Core>,
    /// The shared level. A changed line is [`State::Modified`] here, a clean one [`State::Exclusive`].
    pub shared: Lines,
}
