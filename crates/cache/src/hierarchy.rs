//! The hierarchy: private caches of every core above one shared level.
//!
//! Here is what a processor sees: an access, its answer, the counters. How lines come and go is told in `transfer.rs`. The two
//! first-level caches of one core do not answer each other: what is not in the second level is asked for from the shared one.

use crate::array::Array;
use crate::caches::{Caches, Core};
use crate::events::{Events, Evictions, Kind, Served};
use crate::geometry::{Costs, Geometry, GeometryError};
use crate::line::{Line, Owner, State, MOST_NUMBER};
use crate::set::Key;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

/// The model.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    pub(crate) geometry: Geometry,
    pub(crate) caches: Caches,
    pub(crate) events: Vec<Events>,
    /// Who drove lines out of the shared level.
    pub(crate) evictions: Evictions,
    /// Who drove lines out of the last private level.
    pub(crate) private_evictions: Evictions,
    pub(crate) memory_writes: u64,
    core_of: Vec<u8>,
    /// What each answer costs.
    costs: [u32; 6],
    shift: u32,
}

impl Hierarchy {
    /// Empty caches that tell 256 owners apart.
    ///
    /// # Errors
    /// Where the hierarchy cannot be.
    pub fn new(geometry: Geometry) -> Result<Hierarchy, GeometryError> {
        Hierarchy::with_owners(geometry, 256)
    }

    /// Empty caches that tell this number of owners apart.
    ///
    /// # Errors
    /// Where the hierarchy cannot be.
    pub fn with_owners(geometry: Geometry, owners: usize) -> Result<Hierarchy, GeometryError> {
        geometry.check()?;
        let Costs { first, second, shared, remote_clean, remote_modified, memory, .. } = geometry.costs;
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
            costs: [first, second, shared, remote_clean, remote_modified, memory],
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

    /// Lines written to memory. What one access adds is written because of it: a line that it drove out of the last cache that had it changed,
    /// whoever changed it, or one that another core had to share.
    pub const fn memory_writes(&self) -> u64 {
        self.memory_writes
    }

    /// What this answer costs, in cycles.
    #[inline]
    pub const fn cost(&self, served: Served) -> u32 {
        self.costs[served as usize]
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
        let key = Key::new((address >> self.shift) & MOST_NUMBER);
        let served = self.line(processor, key, kind, owner, false);
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
            served = served.max(self.line(processor, Key::new(number), kind, owner, missing));
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
    fn line(&mut self, processor: usize, key: Key, kind: Kind, owner: Owner, through: bool) -> Served {
        let core = usize::from(self.core_of[processor]);
        let caches = &mut self.caches.cores[core];
        let array = if kind == Kind::Fetch { &mut caches.instruction } else { &mut caches.data };
        let Some(line) = array.touch_again(key) else {
            let events = &mut self.events[processor];
            *(if kind == Kind::Fetch { &mut events.instruction_misses } else { &mut events.data_misses }) += 1;
            return self.first_miss(processor, key, kind, owner);
        };
        let state = line.state();
        if !through && (kind != Kind::Write || state == State::Modified) {
            return Served::First;
        }
        self.first_hit(processor, key, kind, owner, state, through)
    }

    #[cold]
    fn first_hit(
        &mut self,
        processor: usize,
        key: Key,
        kind: Kind,
        owner: Owner,
        state: State,
        through: bool,
    ) -> Served {
        let core = usize::from(self.core_of[processor]);
        let mut served = Served::First;
        if kind == Kind::Write && state != State::Modified {
            served = self.upgrade(processor, core, key, state);
        }
        if through {
            let second = self.caches.cores[core].second.as_mut().and_then(|array| array.touch(key)).is_some();
            if !second {
                let brought = self.bring(processor, core, key, kind, owner, true);
                if self.caches.cores[core].second.is_some() {
                    self.events[processor].second_misses += 1;
                    self.fill_second(processor, core, key, brought.state, owner);
                }
                served = served.max(brought.served);
            }
        }
        served
    }

    fn first_miss(&mut self, processor: usize, key: Key, kind: Kind, owner: Owner) -> Served {
        let core = usize::from(self.core_of[processor]);
        let mut served = Served::Second;
        let here = self.caches.cores[core].second.as_mut().and_then(|array| array.touch(key)).map(|line| line.state());
        let state = match here {
            Some(state) if kind == Kind::Write && state != State::Modified => {
                served = served.max(self.upgrade(processor, core, key, state));
                State::Modified
            }
            Some(state) => state,
            None => {
                let brought = self.bring(processor, core, key, kind, owner, true);
                served = brought.served;
                if self.caches.cores[core].second.is_some() {
                    self.events[processor].second_misses += 1;
                    self.fill_second(processor, core, key, brought.state, owner);
                }
                brought.state
            }
        };
        let alone = self.caches.cores[core].second.is_none();
        self.fill_first(processor, core, key, kind == Kind::Fetch, state, owner, alone);
        if here.is_none() && self.geometry.next_line {
            self.prefetch(processor, core, key.number + 1, owner);
        }
        served
    }

    /// Brings the line after a miss into the last private level, if it is of the same page and not here.
    fn prefetch(&mut self, processor: usize, core: usize, number: u64, owner: Owner) {
        let of_a_page = self.geometry.page / self.geometry.line();
        let key = Key::new(number);
        if number % of_a_page == 0 || self.caches.cores[core].state_of(key) != State::Invalid {
            return;
        }
        self.events[processor].prefetches += 1;
        let brought = self.bring(processor, core, key, Kind::Read, owner, false);
        if self.caches.cores[core].second.is_some() {
            self.fill_second(processor, core, key, brought.state, owner);
        } else {
            self.fill_first(processor, core, key, false, brought.state, owner, true);
        }
    }
}
