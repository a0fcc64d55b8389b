//! The hierarchy: private caches of every core above one shared level.
//!
//! A core's copies of a line always have the same state, in whichever of its arrays they stand; so the state of a *core* is the
//! state of any copy. The two first-level caches of one core do not answer each other: what is not in the second level is asked
//! for from the shared one.

use crate::array::Array;
use crate::events::{Events, Evictions, Kind, Served};
use crate::geometry::{Geometry, GeometryError, Inclusion};
use crate::line::{Line, Owner, State, MOST_NUMBER};
use alloc::collections::BTreeSet;
use alloc::vec;
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

    fn set_state(&mut self, number: u64, state: State) {
        for array in [Some(&mut self.data), Some(&mut self.instruction), self.second.as_mut()].into_iter().flatten() {
            if let Some(line) = array.find(number) {
                line.set_state(state);
            }
        }
    }

    fn invalidate(&mut self, number: u64) {
        self.data.invalidate(number);
        self.instruction.invalidate(number);
        if let Some(second) = &mut self.second {
            second.invalidate(number);
        }
    }

    fn remove(&mut self, number: u64) {
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

/// The model.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    geometry: Geometry,
    caches: Caches,
    events: Vec<Events>,
    /// Who drove lines out of the shared level.
    evictions: Evictions,
    /// Who drove lines out of the last private level.
    private_evictions: Evictions,
    memory_writes: u64,
    core_of: Vec<u8>,
    shift: u32,
}

/// What a private cache gets from outside.
struct Brought {
    state: State,
    served: Served,
}

impl Hierarchy {
    /// Empty caches that tell 256 owners apart.
    ///
    /// # Errors
    /// Where the hierarchy cannot be.
    pub fn new(geometry: Geometry) -> Result<Hierarchy, GeometryError> {
        Hierarchy::with_owners(geometry, 256)
    }

    /// Empty caches that tell so many owners apart.
    ///
    /// # Errors
    /// Where the hierarchy cannot be.
    pub fn with_owners(geometry: Geometry, owners: usize) -> Result<Hierarchy, GeometryError> {
        geometry.check()?;
        let core = Core {
            instruction: Array::new(&geometry.instruction),
            data: Array::new(&geometry.data),
            second: geometry.second.as_ref().map(|level| Array::new(&level.shape)),
        };
        let caches = Caches { cores: vec![core; geometry.cores], shared: Array::new(&geometry.shared.shape) };
        Ok(Hierarchy {
            caches,
            events: vec![Events::default(); geometry.processors()],
            evictions: Evictions::new(owners),
            private_evictions: Evictions::new(owners),
            memory_writes: 0,
            core_of: (0..geometry.processors()).map(|processor| (processor / geometry.threads) as u8).collect(),
            shift: geometry.line().trailing_zeros(),
            geometry,
        })
    }

    /// What it is made of.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// What stands in the caches.
    pub const fn caches(&self) -> &Caches {
        &self.caches
    }

    /// The counters of a processor. What a core does for others (snoops, invalidations) counts for its first processor.
    pub fn events(&self, processor: usize) -> &Events {
        &self.events[processor]
    }

    /// Who drove whose lines out of the shared level.
    pub const fn evictions(&self) -> &Evictions {
        &self.evictions
    }

    /// Who drove whose lines out of the last private level.
    pub const fn private_evictions(&self) -> &Evictions {
        &self.private_evictions
    }

    /// Lines written to memory.
    pub const fn memory_writes(&self) -> u64 {
        self.memory_writes
    }

    /// What this answer costs, in cycles.
    #[inline]
    pub const fn cost(&self, served: Served) -> u32 {
        let costs = &self.geometry.costs;
        match served {
            Served::First => costs.first,
            Served::Second => costs.second,
            Served::Shared => costs.shared,
            Served::RemoteClean => costs.remote_clean,
            Served::RemoteModified => costs.remote_modified,
            Served::Memory => costs.memory,
        }
    }

    /// Writes every changed line to memory and empties all caches (`wbinvd`). Counters stay.
    pub fn flush(&mut self) {
        let private = self.caches.cores.iter().flat_map(|core| {
            core.data.lines().chain(core.instruction.lines()).chain(core.second.iter().flat_map(Array::lines))
        });
        let changed = private.chain(self.caches.shared.lines()).filter(|line| line.state().is_dirty());
        self.memory_writes += changed.map(Line::number).collect::<BTreeSet<_>>().len() as u64;
        for core in &mut self.caches.cores {
            for array in [Some(&mut core.data), Some(&mut core.instruction), core.second.as_mut()].into_iter().flatten()
            {
                array.clear();
            }
        }
        self.caches.shared.clear();
    }

    /// Sets all counters to zero. What stands in the caches stays.
    pub fn reset_events(&mut self) {
        self.events.fill(Events::default());
        self.evictions = Evictions::new(self.evictions.owners());
        self.private_evictions = Evictions::new(self.private_evictions.owners());
        self.memory_writes = 0;
    }

    /// One access within one line, by its physical address. Address bits from 45 on are ignored.
    ///
    /// # Panics
    /// Where there is no such processor.
    #[inline]
    pub fn access(&mut self, processor: usize, address: u64, kind: Kind, owner: Owner) -> Served {
        let number = (address >> self.shift) & MOST_NUMBER;
        let served = self.line(processor, number, kind, owner, false);
        self.count(processor, kind);
        self.events[processor].cycles += u64::from(self.cost(served));
        served
    }

    /// One access to `size` bytes. Where it spans several lines and one of them misses the first level, the next level is
    /// asked for all of them, and the access counts as one miss of each level in which a line missed (as in cachegrind).
    pub fn access_span(&mut self, processor: usize, address: u64, size: u64, kind: Kind, owner: Owner) -> Served {
        let first = (address >> self.shift) & MOST_NUMBER;
        let last = ((address + size.max(1) - 1) >> self.shift) & MOST_NUMBER;
        if first == last {
            return self.access(processor, address, kind, owner);
        }
        let core = &self.caches.cores[usize::from(self.core_of[processor])];
        let array = if kind == Kind::Fetch { &core.instruction } else { &core.data };
        let missing = (first..=last).any(|number| array.state(number) == State::Invalid);
        let before = self.events[processor];
        let mut served = Served::First;
        for number in first..=last {
            served = served.max(self.line(processor, number, kind, owner, missing));
        }
        let events = &mut self.events[processor];
        let once = |before: u64, now: u64| before + u64::from(now > before);
        events.instruction_misses = once(before.instruction_misses, events.instruction_misses);
        events.data_misses = once(before.data_misses, events.data_misses);
        events.second_misses = once(before.second_misses, events.second_misses);
        events.shared_misses = once(before.shared_misses, events.shared_misses);
        self.count(processor, kind);
        self.events[processor].cycles += u64::from(self.cost(served));
        served
    }

    #[inline]
    fn count(&mut self, processor: usize, kind: Kind) {
        let events = &mut self.events[processor];
        match kind {
            Kind::Fetch => events.fetches += 1,
            Kind::Read => events.reads += 1,
            Kind::Write => events.writes += 1,
        }
    }

    /// One line; `through` asks the levels below even where the first one has it.
    #[inline]
    fn line(&mut self, processor: usize, number: u64, kind: Kind, owner: Owner, through: bool) -> Served {
        let core = usize::from(self.core_of[processor]);
        let caches = &mut self.caches.cores[core];
        let array = if kind == Kind::Fetch { &mut caches.instruction } else { &mut caches.data };
        let Some(line) = array.touch(number) else {
            let events = &mut self.events[processor];
            *(if kind == Kind::Fetch { &mut events.instruction_misses } else { &mut events.data_misses }) += 1;
            return self.first_miss(processor, number, kind, owner);
        };
        let state = line.state();
        if !through && (kind != Kind::Write || state == State::Modified) {
            return Served::First;
        }
        self.first_hit(processor, number, kind, owner, state, through)
    }

    #[cold]
    fn first_hit(
        &mut self,
        processor: usize,
        number: u64,
        kind: Kind,
        owner: Owner,
        state: State,
        through: bool,
    ) -> Served {
        let core = usize::from(self.core_of[processor]);
        let mut served = Served::First;
        if kind == Kind::Write && state != State::Modified {
            served = self.upgrade(processor, core, number, state);
        }
        if through {
            let second = self.caches.cores[core].second.as_mut().and_then(|array| array.touch(number)).is_some();
            if !second {
                let brought = self.bring(processor, core, number, kind, owner, true);
                if self.caches.cores[core].second.is_some() {
                    self.events[processor].second_misses += 1;
                    self.fill_second(processor, core, number, brought.state, owner);
                }
                served = served.max(brought.served);
            }
        }
        served
    }

    fn first_miss(&mut self, processor: usize, number: u64, kind: Kind, owner: Owner) -> Served {
        let core = usize::from(self.core_of[processor]);
        let mut served = Served::Second;
        let here =
            self.caches.cores[core].second.as_mut().and_then(|array| array.touch(number)).map(|line| line.state());
        let state = match here {
            Some(state) if kind == Kind::Write && state != State::Modified => {
                served = served.max(self.upgrade(processor, core, number, state));
                State::Modified
            }
            Some(state) => state,
            None => {
                let brought = self.bring(processor, core, number, kind, owner, true);
                served = brought.served;
                if self.caches.cores[core].second.is_some() {
                    self.events[processor].second_misses += 1;
                    self.fill_second(processor, core, number, brought.state, owner);
                }
                brought.state
            }
        };
        let alone = self.caches.cores[core].second.is_none();
        self.fill_first(processor, core, number, kind == Kind::Fetch, state, owner, alone);
        if here.is_none() && self.geometry.next_line {
            self.prefetch(processor, core, number + 1, owner);
        }
        served
    }

    /// Brings the line after a miss into the last private level, if it is of the same page and not here.
    fn prefetch(&mut self, processor: usize, core: usize, number: u64, owner: Owner) {
        let of_a_page = self.geometry.page / self.geometry.line();
        if number % of_a_page == 0 || self.caches.cores[core].state(number) != State::Invalid {
            return;
        }
        self.events[processor].prefetches += 1;
        let brought = self.bring(processor, core, number, Kind::Read, owner, false);
        if self.caches.cores[core].second.is_some() {
            self.fill_second(processor, core, number, brought.state, owner);
        } else {
            self.fill_first(processor, core, number, false, brought.state, owner, true);
        }
    }

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
    fn upgrade(&mut self, processor: usize, core: usize, number: u64, state: State) -> Served {
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
    fn bring(&mut self, processor: usize, core: usize, number: u64, kind: Kind, owner: Owner, demand: bool) -> Brought {
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

    fn fill_second(&mut self, processor: usize, core: usize, number: u64, state: State, owner: Owner) {
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
    fn fill_first(
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
