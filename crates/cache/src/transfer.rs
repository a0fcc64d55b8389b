//! How lines come into the private caches of a core, how others lose them, and where they go when they are dropped.

use crate::events::{Kind, Served};
use crate::geometry::Inclusion;
use crate::hierarchy::Hierarchy;
use crate::line::{Line, Owner, State};

/// What a private cache gets from outside.
pub(crate) struct Brought {
    pub(crate) state: State,
    pub(crate) served: Served,
}

impl Hierarchy {
    /// The cores other than `core` that may hold a line.
    fn candidates(&self, core: usize, shared: Option<u8>) -> u8 {
        let all = if self.geometry.shared.inclusion == Inclusion::Inclusive {
            shared.unwrap_or(0)
        } else {
            (((1u32 << self.geometry.cores) - 1) & 0xff) as u8
        };
        all & !(1 << core)
    }

    /// Makes a copy that is here without the right to write into a modified one.
    pub(crate) fn upgrade(&mut self, processor: usize, core: usize, number: u64, state: State) -> Served {
        let mut served = Served::First;
        if state != State::Exclusive {
            self.events[processor].upgrades += 1;
            let shared = self.caches.shared.find(number).map(|line| {
                let cores = line.sharers();
                line.set_sharers(1 << core);
                cores
            });
            served = Served::Shared;
            let candidates = self.candidates(core, shared);
            for other in (0..self.geometry.cores).filter(|other| candidates >> other & 1 == 1) {
                if self.caches.cores[other].state(number) != State::Invalid {
                    self.caches.cores[other].invalidate(number);
                    self.events[other * self.geometry.threads].invalidated += 1;
                    served = Served::RemoteClean;
                }
            }
            if self.geometry.shared.inclusion == Inclusion::Victim {
                self.caches.shared.remove(number);
            }
        }
        self.caches.cores[core].set_state(number, State::Modified);
        served
    }

    /// Gets a line that the private levels asked lack from the shared level, other cores or memory.
    pub(crate) fn bring(
        &mut self,
        processor: usize,
        core: usize,
        number: u64,
        kind: Kind,
        owner: Owner,
        demand: bool,
    ) -> Brought {
        let protocol = self.geometry.protocol;
        let inclusion = self.geometry.shared.inclusion;
        let write = kind == Kind::Write;
        let own = self.caches.cores[core].state(number);
        let (hit, dirty_below) = match self.caches.shared.touch(number) {
            Some(line) => (Some(line.sharers()), line.state().is_dirty()),
            None => (None, false),
        };
        let candidates = self.candidates(core, hit);
        let mut strongest = State::Invalid;
        let mut holders = 0u8;
        let mut write_back = false;
        let mut state = own;
        if own == State::Invalid || (write && own != State::Modified) {
            for other in (0..self.geometry.cores).filter(|other| candidates >> other & 1 == 1) {
                let copy = self.caches.cores[other].state(number);
                if copy == State::Invalid {
                    continue;
                }
                strongest = strongest.max(copy);
                let events = &mut self.events[other * self.geometry.threads];
                events.snooped += u64::from(!matches!(copy, State::Shared));
                if write {
                    events.invalidated += 1;
                    self.caches.cores[other].invalidate(number);
                } else {
                    holders |= 1 << other;
                    let snooped = protocol.snoop_read(copy);
                    write_back |= snooped.write_back;
                    self.caches.cores[other].set_state(number, snooped.copy);
                }
            }
            state = if write { State::Modified } else { protocol.read_fill(strongest != State::Invalid) };
            if write && own != State::Invalid {
                self.caches.cores[core].set_state(number, State::Modified);
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
                    self.caches.shared.remove(number);
                    if dirty_below {
                        state = State::Modified;
                    }
                }
            }
            (Inclusion::Victim, None) => {}
            (_, Some(sharers)) => {
                if let Some(line) = self.caches.shared.find(number) {
                    line.set_sharers(if write { 1 << core } else { sharers | 1 << core });
                }
            }
            (_, None) => {
                let filled = self.caches.shared.insert(number, State::Exclusive, owner);
                if let Some(line) = self.caches.shared.find(number) {
                    line.set_sharers(holders | 1 << core);
                }
                if let Some(victim) = filled.victim {
                    self.drop_shared(victim, owner);
                }
            }
        }
        if write_back {
            self.write_below(number);
        }
        Brought { state, served }
    }

    /// A changed line goes to the shared level, if it is there, or to memory.
    fn write_below(&mut self, number: u64) {
        match self.caches.shared.find(number) {
            Some(line) => line.set_state(State::Modified),
            None => self.memory_writes += 1,
        }
    }

    /// The shared level dropped a line that `by` drove out.
    fn drop_shared(&mut self, victim: Line, by: Owner) {
        self.evictions.count(by, victim.owner());
        let number = victim.number();
        let mut dirty = victim.state().is_dirty();
        if self.geometry.shared.inclusion == Inclusion::Inclusive {
            let cores = victim.sharers();
            for core in (0..self.geometry.cores).filter(|core| cores >> core & 1 == 1) {
                let state = self.caches.cores[core].state(number);
                if state != State::Invalid {
                    dirty |= state.is_dirty();
                    self.caches.cores[core].remove(number);
                    self.events[core * self.geometry.threads].back_invalidated += 1;
                }
            }
        }
        self.memory_writes += u64::from(dirty);
    }

    pub(crate) fn fill_second(&mut self, processor: usize, core: usize, number: u64, state: State, owner: Owner) {
        let Some(second) = &mut self.caches.cores[core].second else { return };
        let filled = second.insert(number, state, owner);
        let events = &mut self.events[processor];
        events.line_in(state);
        events.lines_in_invalid += u64::from(filled.was_invalidated);
        let Some(victim) = filled.victim else { return };
        self.private_evictions.count(owner, victim.owner());
        self.dropped_by_second(processor, core, victim, owner);
    }

    fn dropped_by_second(&mut self, processor: usize, core: usize, victim: Line, by: Owner) {
        let number = victim.number();
        let caches = &mut self.caches.cores[core];
        if self.geometry.second.is_some_and(|level| level.inclusion == Inclusion::Inclusive) {
            caches.data.remove(number);
            caches.instruction.remove(number);
        } else if caches.data.state(number) != State::Invalid || caches.instruction.state(number) != State::Invalid {
            return;
        }
        self.lost(processor, victim, by);
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn fill_first(
        &mut self,
        processor: usize,
        core: usize,
        number: u64,
        instruction: bool,
        state: State,
        owner: Owner,
        alone: bool,
    ) {
        let caches = &mut self.caches.cores[core];
        let array = if instruction { &mut caches.instruction } else { &mut caches.data };
        let filled = array.insert(number, state, owner);
        if alone {
            let events = &mut self.events[processor];
            events.line_in(state);
            events.lines_in_invalid += u64::from(filled.was_invalidated);
        }
        let Some(victim) = filled.victim else { return };
        if alone {
            self.private_evictions.count(owner, victim.owner());
        }
        if !victim.state().is_dirty() && self.geometry.shared.inclusion != Inclusion::Victim {
            return;
        }
        let caches = &mut self.caches.cores[core];
        let other = if instruction { &caches.data } else { &caches.instruction };
        if other.state(victim.number()) != State::Invalid {
            return;
        }
        if let Some(second) = &mut caches.second {
            if second.state(victim.number()) != State::Invalid {
                return;
            }
            if victim.state().is_dirty() {
                // Never met under an inclusive second level, which has every line of the first.
                let filled = second.insert(victim.number(), victim.state(), victim.owner());
                if let Some(next) = filled.victim {
                    self.private_evictions.count(owner, next.owner());
                    self.dropped_by_second(processor, core, next, owner);
                }
                return;
            }
        }
        self.lost(processor, victim, owner);
    }

    /// The last copy of a core is gone.
    fn lost(&mut self, processor: usize, line: Line, by: Owner) {
        let dirty = line.state().is_dirty();
        self.events[processor].write_backs += u64::from(dirty);
        if self.geometry.shared.inclusion == Inclusion::Victim
            && self.caches.shared.state(line.number()) == State::Invalid
        {
            let state = if dirty { State::Modified } else { State::Exclusive };
            let filled = self.caches.shared.insert(line.number(), state, line.owner());
            if let Some(victim) = filled.victim {
                self.drop_shared(victim, by);
            }
        } else if dirty {
            self.write_below(line.number());
        }
    }
}
