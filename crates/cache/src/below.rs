//! What all cores share: the last level, and memory behind it.

use crate::array::Array;
use crate::events::Evictions;
use crate::geometry::{Geometry, Inclusion};
use crate::line::{Line, Owner, State};
use crate::set::{Key, Ways};

/// The shared level and memory.
#[derive(Clone, Debug)]
pub(crate) struct Below<W> {
    pub(crate) shared: Array<W>,
    pub(crate) inclusion: Inclusion,
    /// Who drove lines out of the shared level.
    pub(crate) evictions: Evictions,
    /// Lines written to memory.
    pub(crate) memory_writes: u64,
}

impl<W: Ways> Below<W> {
    pub(crate) fn new(geometry: &Geometry, owners: usize) -> Below<W> {
        Below {
            shared: Array::new(&geometry.shared.shape),
            inclusion: geometry.shared.inclusion,
            evictions: Evictions::new(owners),
            memory_writes: 0,
        }
    }

    /// A changed line goes to the shared level, if it is there, or to memory.
    #[inline(always)]
    pub(crate) fn write(&mut self, key: Key) {
        match self.shared.find(key) {
            Some(line) => line.set_state(State::Modified),
            None => self.memory_writes += 1,
        }
    }

    /// A core dropped its last copy of a line, and this level is filled by what cores drop.
    #[inline(never)]
    pub(crate) fn take_victim(&mut self, key: Key, line: Line, by: Owner) {
        let dirty = line.state().is_dirty();
        if self.shared.state(key) != State::Invalid {
            if dirty {
                self.write(key);
            }
            return;
        }
        let state = if dirty { State::Modified } else { State::Exclusive };
        let victim = self.shared.insert(key, Line::new(key.number, state, line.owner())).victim;
        if victim.is_valid() {
            self.evictions.count(by, victim.owner());
            self.memory_writes += u64::from(victim.state().is_dirty());
        }
    }
}
