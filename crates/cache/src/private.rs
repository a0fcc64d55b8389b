//! The private caches of one core: what stands in them, what others do to it, and what leaves them.

use crate::array::Array;
use crate::below::Below;
use crate::caches;
use crate::coherence::Protocol;
use crate::events::{Events, Evictions};
use crate::geometry::{Geometry, Inclusion};
use crate::line::{Line, Owner, State};
use crate::set::{Filled, Key, Ways};

/// The arrays of one core.
#[derive(Clone, Debug)]
pub(crate) struct Core<W> {
    instruction: Array<W>,
    data: Array<W>,
    /// The second level, if there is one.
    pub(crate) second: Option<Array<W>>,
    /// Whether that has every line of the first.
    inclusive: bool,
    /// Between which lines all those lie that were fetched. Code mostly lies apart from data, and then nobody looks for data in the
    /// instruction cache.
    fetched: (u64, u64),
}

/// What a core touches when it drops a line.
pub(crate) struct Around<'a, W> {
    /// The counters of the processor that asked.
    pub(crate) events: &'a mut Events,
    /// Who drove lines out of the last private level.
    pub(crate) evictions: &'a mut Evictions,
    pub(crate) below: &'a mut Below<W>,
}

impl<W: Ways> Core<W> {
    pub(crate) fn new(geometry: &Geometry) -> Core<W> {
        Core {
            instruction: Array::new(&geometry.instruction),
            data: Array::new(&geometry.data),
            second: geometry.second.map(|level| Array::new(&level.shape)),
            fetched: (u64::MAX, 0),
            inclusive: geometry.second.is_some_and(|level| level.inclusion == Inclusion::Inclusive),
        }
    }

    /// What stands here.
    pub(crate) fn lines(&self) -> caches::Core {
        caches::Core {
            instruction: self.instruction.lines(),
            data: self.data.lines(),
            second: self.second.as_ref().map(Array::lines),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.instruction.clear();
        self.data.clear();
        self.fetched = (u64::MAX, 0);
        self.second.iter_mut().for_each(Array::clear);
    }

    /// The first level for fetches, or that for data.
    #[inline(always)]
    pub(crate) fn first(&mut self, instruction: bool) -> &mut Array<W> {
        if instruction {
            &mut self.instruction
        } else {
            &mut self.data
        }
    }

    /// The instruction cache, if the line may be there.
    #[inline(always)]
    fn code(&mut self, key: Key) -> Option<&mut Array<W>> {
        let (from, to) = self.fetched;
        (from <= key.number && key.number <= to).then_some(&mut self.instruction)
    }

    /// The state of a line in the first level for fetches, or that for data.
    #[inline(always)]
    pub(crate) fn state_in_first(&mut self, key: Key, instruction: bool) -> State {
        if instruction {
            self.code(key).map_or(State::Invalid, |array| array.state(key))
        } else {
            self.data.state(key)
        }
    }

    /// The state in which this core holds a line.
    #[inline(always)]
    pub(crate) fn state(&mut self, key: Key) -> State {
        let second = self.second.as_ref().map_or(State::Invalid, |array| array.state(key));
        if second == State::Invalid {
            self.state_above(key)
        } else {
            second
        }
    }

    /// The state of the copies in the first level.
    #[inline(always)]
    fn state_above(&mut self, key: Key) -> State {
        self.data.state(key).max(self.state_in_first(key, true))
    }

    /// Changes the state of the copy in the first level for fetches, or that for data.
    #[inline(always)]
    pub(crate) fn set_state_in_first(&mut self, key: Key, instruction: bool, state: State) {
        if !instruction {
            self.data.set_state(key, state);
        } else if let Some(code) = self.code(key) {
            code.set_state(key, state);
        }
    }

    /// Another core reads the line: the state in which it was here, and whether it has to be written back.
    #[inline(always)]
    pub(crate) fn snoop_read(&mut self, protocol: Protocol, key: Key) -> (State, bool) {
        let (copy, snooped);
        if let Some(line) = self.second.as_mut().and_then(|second| second.find(key)) {
            copy = line.state();
            snooped = protocol.snoop_read(copy);
            line.set_state(snooped.copy);
        } else {
            copy = self.state_above(key);
            snooped = protocol.snoop_read(copy);
        }
        if snooped.copy != copy {
            if let Some(line) = self.data.find(key) {
                line.set_state(snooped.copy);
            }
            self.set_state_in_first(key, true, snooped.copy);
        }
        (copy, snooped.write_back)
    }

    /// Makes all copies invalid; the state in which they were.
    #[inline(always)]
    pub(crate) fn invalidate(&mut self, key: Key) -> State {
        let code = self.code(key).map_or(State::Invalid, |code| code.invalidate(key));
        // Who is asked mostly has it there.
        let data = self.data.invalidate_here(key);
        let second = self.second.as_mut().map_or(State::Invalid, |second| second.invalidate_here(key));
        if second == State::Invalid {
            data.max(code)
        } else {
            second
        }
    }

    /// Takes all copies out; the state in which they were.
    #[inline(always)]
    pub(crate) fn remove(&mut self, key: Key) -> State {
        let second = self.second.as_mut().map_or(State::Invalid, |second| second.remove(key));
        self.remove_above(key).max(second)
    }

    #[inline(always)]
    fn remove_above(&mut self, key: Key) -> State {
        let code = self.code(key).map_or(State::Invalid, |code| code.remove(key));
        self.data.remove(key).max(code)
    }

    /// A line comes into the second level; its way there.
    #[inline(always)]
    pub(crate) fn fill_second<S: Ways>(
        &mut self,
        key: Key,
        state: State,
        owner: Owner,
        around: &mut Around<S>,
    ) -> usize {
        let Some(second) = &mut self.second else { return 0 };
        let filled = second.insert(key, Line::new(key.number, state, owner));
        around.events.line_in(state);
        around.events.lines_in_invalid += u64::from(filled.was_invalidated);
        if filled.victim.is_valid() {
            self.dropped_by_second(filled, owner, around);
        }
        filled.way
    }

    #[inline(always)]
    fn dropped_by_second<S: Ways>(&mut self, filled: Filled, by: Owner, around: &mut Around<S>) {
        let Filled { victim, key, .. } = filled;
        around.evictions.count(by, victim.owner());
        if self.inclusive {
            self.remove_above(key);
        } else if self.state_above(key) != State::Invalid {
            return;
        }
        around.lost(key, victim, by);
    }

    /// A line comes into the first level. In the second it is in way `below`, if it is there.
    #[inline(always)]
    pub(crate) fn fill_first<S: Ways>(
        &mut self,
        key: Key,
        instruction: bool,
        state: State,
        owner: Owner,
        below: usize,
        around: &mut Around<S>,
    ) {
        if instruction {
            self.fetched = (self.fetched.0.min(key.number), self.fetched.1.max(key.number));
        }
        let line = Line::new(key.number, state, owner).with_way_below(below);
        let Filled { victim, key: gone, was_invalidated, .. } = self.first(instruction).insert(key, line);
        let alone = self.second.is_none();
        if alone {
            around.events.line_in(state);
            around.events.lines_in_invalid += u64::from(was_invalidated);
        }
        if !victim.is_valid() {
            return;
        }
        if alone {
            around.evictions.count(owner, victim.owner());
        }
        if !victim.state().is_dirty() && around.below.inclusion != Inclusion::Victim {
            return;
        }
        if self.state_in_first(gone, !instruction) != State::Invalid {
            return;
        }
        if let Some(second) = &mut self.second {
            if second.has(victim.way_below(), gone) {
                return;
            }
            if victim.state().is_dirty() {
                // Never met under an inclusive second level, which has every line of the first.
                let filled = second.insert(gone, Line::new(victim.number(), victim.state(), victim.owner()));
                if filled.victim.is_valid() {
                    self.dropped_by_second(filled, owner, around);
                }
                return;
            }
        }
        around.lost(gone, victim, owner);
    }
}

impl<S: Ways> Around<'_, S> {
    /// The last copy of a core is gone.
    #[inline(always)]
    fn lost(&mut self, key: Key, line: Line, by: Owner) {
        let dirty = line.state().is_dirty();
        self.events.write_backs += u64::from(dirty);
        if self.below.inclusion == Inclusion::Victim {
            self.below.take_victim(key, line, by);
        } else if dirty {
            self.below.write(key);
        }
    }
}
