//! Everything that stands in the caches at one moment.
//!
//! A core's copies of a line always have the same state, in whichever of its arrays they stand; so the state of a *core* is the
//! state of any copy.

use crate::array::Array;
use crate::line::State;
use crate::set::Key;
use alloc::vec::Vec;

/// The arrays of one core.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Core {
    /// First level for instructions.
    pub instruction: Array,
    /// First level for data.
    pub data: Array,
    /// Second level, if there is one.
    pub second: Option<Array>,
}

impl Core {
    /// The state in which this core holds a line.
    pub fn state(&self, number: u64) -> State {
        self.state_of(Key::new(number))
    }

    #[inline]
    pub(crate) fn state_of(&self, key: Key) -> State {
        let second = self.second.as_ref().map_or(State::Invalid, |array| array.state_of(key));
        if second != State::Invalid {
            return second;
        }
        let data = self.data.state_of(key);
        if data != State::Invalid {
            return data;
        }
        self.instruction.state_of(key)
    }

    #[inline]
    pub(crate) fn set_state(&mut self, key: Key, state: State) {
        for array in [Some(&mut self.data), Some(&mut self.instruction), self.second.as_mut()].into_iter().flatten() {
            if let Some(line) = array.find(key) {
                line.set_state(state);
            }
        }
    }

    /// Makes all copies invalid; the state in which they were.
    #[inline]
    pub(crate) fn invalidate(&mut self, key: Key) -> State {
        let second = self.second.as_mut().map_or(State::Invalid, |second| second.invalidate(key));
        self.data.invalidate(key).max(self.instruction.invalidate(key)).max(second)
    }

    /// Takes all copies out; the state in which they were.
    #[inline]
    pub(crate) fn remove(&mut self, key: Key) -> State {
        let second = self.second.as_mut().map_or(State::Invalid, |second| second.remove(key));
        self.data.remove(key).max(self.instruction.remove(key)).max(second)
    }
}

/// Everything that decides what the next access does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Caches {
    /// Private caches.
    pub cores: Vec<Core>,
    /// The shared level. A changed line is [`State::Modified`] here, a clean one [`State::Exclusive`].
    pub shared: Array,
}
