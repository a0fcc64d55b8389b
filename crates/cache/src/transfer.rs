//! How lines come into the private caches of a core, how others lose them, and where they go when they are dropped.

use crate::events::{Kind, Served};
use crate::geometry::Inclusion;
use crate::hierarchy::Hierarchy;
use crate::line::{Line, Owner, State};
use crate::set::Key;

/// What a private cache gets from outside.
pub(crate) struct Brought {
    pub(crate) state: State,
    pub(crate) served: Served,
}

/// The cores of a set, the lowest first.
fn each(cores: u8) -> impl Iterator<Item = usize> {
    let mut rest = cores;
    core::iter::from_fn(move || {
        let core = rest.trailing_zeros() as usize;
        (rest != 0).then(|| {
            rest &= rest - 1;
            core
        })
    })
}

impl Hierarchy {
    /// The cores other than `core` that may hold a line.
    #[inline]
    fn candidates(&self, core: usize, shared: Option<u8>) -> u8 {
        let all = if self.geometry.shared.inclusion == Inclusion::Inclusive {
            shared.unwrap_or(0)
        } else {
            (((1u32 << self.geometry.cores) - 1) & 0xff) as u8
        };
        all & !(1 << core)
    }

    /// Makes a copy that is here without the right to write into a modified one.
    pub(crate) fn upgrade(&mut self, processor: usize, core: usize, key: Key, state: State) -> Served {
        let mut served = Served::First;
        if state != State::Exclusive {
            self.events[processor].upgrades += 1;
            let shared = self.caches.shared.find(key).map(|line| {
                let cores = line.sharers();
                line.set_sharers(1 << core);
                cores
            });
            served = Served::Shared;
            let candidates = self.candidates(core, shared);
            for other in each(candidates) {
                if self.caches.cores[other].invalidate(key) != State::Invalid {
                    self.events[other * self.geometry.threads].invalidated += 1;
                    served = Served::RemoteClean;
                }
            }
            if self.geometry.shared.inclusion == Inclusion::Victim {
                self.caches.shared.remove(key);
            }
        }
        self.caches.cores[core].set_state(key, State::Modified);
        served
    }

    /// Gets a line that the private levels asked lack from the shared level, other cores or memory.
    #[inline(always)]
    pub(crate) fn bring(
        &mut self,
        processor: usize,
        core: usize,
        key: Key,
        kind: Kind,
        owner: Owner,
        demand: bool,
    ) -> Brought {
        let protocol = self.geometry.protocol;
        let inclusion = self.geometry.shared.inclusion;
        let write = kind == Kind::Write;
        let (hit, dirty_below) = match self.caches.shared.touch(key) {
            Some(line) => (Some(line.sharers()), line.state().is_dirty()),
            None => (None, false),
        };
        // What an inclusive level does not know of this core is not in it.
        let own = if inclusion == Inclusion::Inclusive && hit.unwrap_or(0) >> core & 1 == 0 {
            State::Invalid
        } else {
            self.caches.cores[core].state_of(key)
        };
        let candidates = self.candidates(core, hit);
        let mut strongest = State::Invalid;
        let mut holders = 0u8;
        let mut write_back = false;
        let mut state = own;
        if own == State::Invalid || (write && own != State::Modified) {
            for other in each(candidates) {
                let caches = &mut self.caches.cores[other];
                let copy = if write { caches.invalidate(key) } else { caches.state_of(key) };
                if copy == State::Invalid {
                    continue;
                }
                strongest = strongest.max(copy);
                let events = &mut self.events[other * self.geometry.threads];
                events.snooped += u64::from(!matches!(copy, State::Shared));
                if write {
                    events.invalidated += 1;
                } else {
                    holders |= 1 << other;
                    let snooped = protocol.snoop_read(copy);
                    write_back |= snooped.write_back;
                    if snooped.copy != copy {
                        caches.set_state(key, snooped.copy);
                    }
                }
            }
            state = if write { State::Modified } else { protocol.read_fill(strongest != State::Invalid) };
            if write && own != State::Invalid {
                self.caches.cores[core].set_state(key, State::Modified);
            }
        }
        let served = match (strongest, hit) {
            (State::Modified | State::Owned, _) => Served::RemoteModified,
            (State::Exclusive | State::Forward | State::Shared, _) => Served::RemoteClean,
            (State::Invalid, Some(_)) => Served::Shared,
            (State::Invalid, None) => Served::Memory,
        };
        let events = &mut self.events[processor];
        if demand {
            events.shared_misses += u64::from(hit.is_none());
            match (kind, served) {
                (Kind::Read, Served::RemoteModified) => events.hitm += 1,
                (Kind::Write, Served::RemoteModified) => events.store_hitm += 1,
                (Kind::Read, Served::RemoteClean) => events.hit_remote += 1,
                (Kind::Read, Served::Shared) => {
                    events.remote_miss += u64::from(inclusion == Inclusion::Inclusive && candidates != 0);
                }
                _ => {}
            }
        }
        match (inclusion, hit) {
            (Inclusion::Victim, Some(_)) => {
                if write || (holders == 0 && own == State::Invalid) {
                    self.caches.shared.remove(key);
                    if dirty_below {
                        state = State::Modified;
                    }
                }
            }
            (Inclusion::Victim, None) => {}
            (_, Some(sharers)) => {
                if let Some(line) = self.caches.shared.find(key) {
                    line.set_sharers(if write { 1 << core } else { sharers | 1 << core });
                }
            }
            (_, None) => {
                let mut line = Line::new(key.number, State::Exclusive, owner);
                line.set_sharers(holders | 1 << core);
                let filled = self.caches.shared.insert(key, line);
                if filled.victim.is_valid() {
                    self.drop_shared(filled.victim, owner);
                }
            }
        }
        if write_back {
            self.write_below(key);
        }
        Brought { state, served }
    }

    /// A changed line goes to the shared level, if it is there, or to memory.
    #[inline(always)]
    fn write_below(&mut self, key: Key) {
        match self.caches.shared.find(key) {
            Some(line) => line.set_state(State::Modified),
            None => self.memory_writes += 1,
        }
    }

    /// The shared level dropped a line that `by` drove out.
    #[inline(always)]
    fn drop_shared(&mut self, victim: Line, by: Owner) {
        self.evictions.count(by, victim.owner());
        let mut dirty = victim.state().is_dirty();
        if self.geometry.shared.inclusion == Inclusion::Inclusive {
            let key = Key::new(victim.number());
            for core in each(victim.sharers()) {
                let state = self.caches.cores[core].remove(key);
                if state != State::Invalid {
                    dirty |= state.is_dirty();
                    self.events[core * self.geometry.threads].back_invalidated += 1;
                }
            }
        }
        self.memory_writes += u64::from(dirty);
    }

    #[inline(always)]
    pub(crate) fn fill_second(&mut self, processor: usize, core: usize, key: Key, state: State, owner: Owner) {
        let Some(second) = &mut self.caches.cores[core].second else { return };
        let filled = second.insert(key, Line::new(key.number, state, owner));
        let events = &mut self.events[processor];
        events.line_in(state);
        events.lines_in_invalid += u64::from(filled.was_invalidated);
        let victim = filled.victim;
        if !victim.is_valid() {
            return;
        }
        self.private_evictions.count(owner, victim.owner());
        self.dropped_by_second(processor, core, victim, owner);
    }

    #[inline(always)]
    fn dropped_by_second(&mut self, processor: usize, core: usize, victim: Line, by: Owner) {
        let key = Key::new(victim.number());
        let caches = &mut self.caches.cores[core];
        if self.geometry.second.is_some_and(|level| level.inclusion == Inclusion::Inclusive) {
            caches.data.remove(key);
            caches.instruction.remove(key);
        } else if caches.data.state_of(key) != State::Invalid || caches.instruction.state_of(key) != State::Invalid {
            return;
        }
        self.lost(processor, key, victim, by);
    }

    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(crate) fn fill_first(
        &mut self,
        processor: usize,
        core: usize,
        key: Key,
        instruction: bool,
        state: State,
        owner: Owner,
        alone: bool,
    ) {
        let caches = &mut self.caches.cores[core];
        let array = if instruction { &mut caches.instruction } else { &mut caches.data };
        let filled = array.insert(key, Line::new(key.number, state, owner));
        if alone {
            let events = &mut self.events[processor];
            events.line_in(state);
            events.lines_in_invalid += u64::from(filled.was_invalidated);
        }
        let victim = filled.victim;
        if !victim.is_valid() {
            return;
        }
        if alone {
            self.private_evictions.count(owner, victim.owner());
        }
        if !victim.state().is_dirty() && self.geometry.shared.inclusion != Inclusion::Victim {
            return;
        }
        let gone = Key::new(victim.number());
        let caches = &mut self.caches.cores[core];
        let other = if instruction { &caches.data } else { &caches.instruction };
        if other.state_of(gone) != State::Invalid {
            return;
        }
        if let Some(second) = &mut caches.second {
            if second.state_of(gone) != State::Invalid {
                return;
            }
            if victim.state().is_dirty() {
                // Never met under an inclusive second level, which has every line of the first.
                let filled = second.insert(gone, Line::new(victim.number(), victim.state(), victim.owner()));
                let next = filled.victim;
                if next.is_valid() {
                    self.private_evictions.count(owner, next.owner());
                    self.dropped_by_second(processor, core, next, owner);
                }
                return;
            }
        }
        self.lost(processor, gone, victim, owner);
    }

    /// The last copy of a core is gone.
    #[inline(always)]
    fn lost(&mut self, processor: usize, key: Key, line: Line, by: Owner) {
        let dirty = line.state().is_dirty();
        self.events[processor].write_backs += u64::from(dirty);
        if self.geometry.shared.inclusion == Inclusion::Victim && self.caches.shared.state_of(key) == State::Invalid {
            let state = if dirty { State::Modified } else { State::Exclusive };
            let filled = self.caches.shared.insert(key, Line::new(key.number, state, line.owner()));
            if filled.victim.is_valid() {
                self.drop_shared(filled.victim, by);
            }
        } else if dirty {
            self.write_below(key);
        }
    }
}
