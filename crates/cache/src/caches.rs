//! Everything that stands in the caches at one moment.
//!
//! A core's copies of a line always have the same state, in whichever of its arrays they stand; so the state of a *core* is the
//! state of any copy.

use crate::array::Array;
use crate::line::State;
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
        let second = self.second.as_ref().map_or(State::Invalid, |array| array.state(number));
        if second != State::Invalid {
            return second;
        }
        let data = self.data.state(number);
        if data != State::Invalid {
            return data;
        }
        self.instruction.state(number)
    }

    pub(crate) fn set_state(&mut self, number: u64, state: State) {
        for array in [Some(&mut self.data), Some(&mut self.instruction), self.second.as_mut()].into_iter().flatten() {
            if let Some(line) = array.find(number) {
                line.set_state(state);
            }
        }
    }

    pub(crate) fn invalidate(&mut self, number: u64) {
        self.data.invalidate(number);
        self.instruction.invalidate(number);
        if let Some(second) = &mut self.second {
            second.invalidate(number);
        }
    }

    pub(crate) fn remove(&mut self, number: u64) {
        self.data.remove(number);
        self.instruction.remove(number);
        if let Some(second) = &mut self.second {
            second.remove(number);
        }
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
