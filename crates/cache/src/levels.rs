//! All levels of a hierarchy: an access from the processor down to where it is answered.
//!
//! How lines come from below is told in `transfer.rs`, how they leave a core in `private.rs`. Everything is compiled for sets of a known
//! size: `P` of the private levels, `S` of the shared one.

use crate::below::Below;
use crate::caches::Caches;
use crate::events::{Events, Evictions, Kind, Served};
use crate::geometry::{Costs, Geometry};
use crate::line::{Line, Owner, State, MOST_NUMBER};
use crate::private::{Around, Core};
use crate::set::{Key, Ways};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

/// Private caches of every core above one shared level, and what is counted.
#[derive(Clone, Debug)]
pub(crate) struct Levels<P, S> {
    pub(crate) cores: Vec<Core<P>>,
    pub(crate) below: Below<S>,
    pub(crate) events: Vec<Events>,
    /// Who drove lines out of the last private level.
    pub(crate) private_evictions: Evictions,
    pub(crate) geometry: Geometry,
    /// All cores, as bits.
    pub(crate) all: u8,
    core_of: Vec<u8>,
    /// What each answer costs.
    costs: [u32; 6],
    shift: u32,
}

/// Who asks for what.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    processor: u32,
    core: u8,
    pub(crate) kind: Kind,
    pub(crate) owner: Owner,
}

impl Request {
    #[inline(always)]
    pub(crate) const fn processor(self) -> usize {
        self.processor as usize
    }

    #[inline(always)]
    pub(crate) const fn core(self) -> usize {
        self.core as usize
    }
}

impl<P: Ways, S: Ways> Levels<P, S> {
    pub(crate) fn new(geometry: Geometry, owners: usize) -> Levels<P, S> {
        let Costs { first, second, shared, remote_clean, remote_modified, memory, .. } = geometry.costs;
        Levels {
            cores: vec![Core::new(&geometry); geometry.cores],
            below: Below::new(&geometry, owners),
            events: vec![Events::default(); geometry.processors()],
            private_evictions: Evictions::new(owners),
            all: u8::MAX >> (8 - geometry.cores),
            core_of: (0..geometry.processors()).map(|processor| (processor / geometry.threads) as u8).collect(),
            costs: [first, second, shared, remote_clean, remote_modified, memory],
            shift: geometry.line().trailing_zeros(),
            geometry,
        }
    }

    pub(crate) fn caches(&self) -> Caches {
        Caches { cores: self.cores.iter().map(Core::lines).collect(), shared: self.below.shared.lines() }
    }

    pub(crate) fn flush(&mut self) {
        let caches = self.caches();
        let private = caches.cores.iter().flat_map(|core| {
            core.data.lines().chain(core.instruction.lines()).chain(core.second.iter().flat_map(|array| array.lines()))
        });
        let changed = private.chain(caches.shared.lines()).filter(|line| line.state().is_dirty());
        self.below.memory_writes += changed.map(Line::number).collect::<BTreeSet<_>>().len() as u64;
        self.cores.iter_mut().for_each(Core::clear);
        self.below.shared.clear();
    }

    pub(crate) fn reset_events(&mut self) {
        self.events.fill(Events::default());
        self.below.evictions = Evictions::new(self.below.evictions.owners());
        self.private_evictions = Evictions::new(self.private_evictions.owners());
        self.below.memory_writes = 0;
    }

    #[inline]
    pub(crate) const fn cost(&self, served: Served) -> u32 {
        self.costs[served as usize]
    }

    #[inline(always)]
    pub(crate) fn access(&mut self, processor: usize, address: u64, kind: Kind, owner: Owner) -> Served {
        let request = Request { processor: processor as u32, core: self.core_of[processor], kind, owner };
        let served = self.line(request, (address >> self.shift) & MOST_NUMBER, false);
        self.count(request, served);
        served
    }

    pub(crate) fn access_span(
        &mut self,
        processor: usize,
        address: u64,
        size: u64,
        kind: Kind,
        owner: Owner,
    ) -> Served {
        let first = (address >> self.shift) & MOST_NUMBER;
        let last = ((address + size.max(1) - 1) >> self.shift) & MOST_NUMBER;
        if first == last {
            return self.access(processor, address, kind, owner);
        }
        let request = Request { processor: processor as u32, core: self.core_of[processor], kind, owner };
        let array = self.cores[request.core()].first(kind == Kind::Fetch);
        let missing = (first..=last).any(|number| array.state(Key::new(number)) == State::Invalid);
        let before = self.events[processor];
        let mut served = Served::First;
        for number in first..=last {
            served = served.max(self.line(request, number, missing));
        }
        let events = &mut self.events[processor];
        let once = |before: u64, now: u64| before + u64::from(now > before);
        events.instruction_misses = once(before.instruction_misses, events.instruction_misses);
        events.data_misses = once(before.data_misses, events.data_misses);
        events.second_misses = once(before.second_misses, events.second_misses);
        events.shared_misses = once(before.shared_misses, events.shared_misses);
        self.count(request, served);
        served
    }

    #[inline(always)]
    fn count(&mut self, request: Request, served: Served) {
        let cost = u64::from(self.cost(served));
        let events = &mut self.events[request.processor()];
        events.cycles += cost;
        match request.kind {
            Kind::Fetch => events.fetches += 1,
            Kind::Read => events.reads += 1,
            Kind::Write => events.writes += 1,
        }
    }

    /// One line; `through` asks the levels below even where the first one has it.
    #[inline(always)]
    fn line(&mut self, request: Request, number: u64, through: bool) -> Served {
        let kind = request.kind;
        match self.cores[request.core()].first(kind == Kind::Fetch).set(number).touch_again(number) {
            Ok(line) if !through && (kind != Kind::Write || line.state() == State::Modified) => Served::First,
            Ok(line) => self.first_hit(request, Key::new(number), line.state(), through),
            Err(key) => self.first_miss(request, key),
        }
    }

    #[inline(never)]
    fn first_hit(&mut self, request: Request, key: Key, state: State, through: bool) -> Served {
        let (mut served, mut state) = (Served::First, state);
        if request.kind == Kind::Write && state != State::Modified {
            served = self.upgrade(request, key, state);
            state = State::Modified;
            let caches = &mut self.cores[request.core()];
            caches.first(false).set(key.number).newest().set_state(state);
            caches.set_state_in_first(key, true, state);
            if let Some(second) = &mut caches.second {
                second.set_state(key, state);
            }
        }
        if through && self.cores[request.core()].second.as_mut().and_then(|array| array.touch(key)).is_none() {
            let brought = self.bring_apart(request, key, state, true);
            self.events[request.processor()].shared_misses += u64::from(!brought.hit);
            if self.cores[request.core()].second.is_some() {
                self.events[request.processor()].second_misses += 1;
                self.fill_second_apart(request, key, brought.state);
            }
            served = served.max(brought.served);
        }
        served
    }

    #[inline(always)]
    fn first_miss(&mut self, request: Request, key: Key) -> Served {
        let (processor, core) = (request.processor(), request.core());
        let Request { kind, owner, .. } = request;
        let instruction = kind == Kind::Fetch;
        let caches = &mut self.cores[core];
        let here = caches.second.as_mut().and_then(|array| array.touch(key)).map(|(way, line)| (way, line.state()));
        let mut hit = true;
        let (state, served) = match here {
            Some((_, state)) if kind == Kind::Write && state != State::Modified => {
                let served = self.upgrade(request, key, state);
                let caches = &mut self.cores[core];
                if let Some(second) = &mut caches.second {
                    second.set(key.number).newest().set_state(State::Modified);
                }
                caches.set_state_in_first(key, !instruction, State::Modified);
                (State::Modified, served.max(Served::Second))
            }
            Some((_, state)) => (state, Served::Second),
            None => {
                let own = caches.state_in_first(key, !instruction);
                let brought = self.bring(request, key, own, true);
                hit = brought.hit;
                (brought.state, brought.served)
            }
        };
        let caches = &mut self.cores[core];
        let mut around = Around {
            events: &mut self.events[processor],
            evictions: &mut self.private_evictions,
            below: &mut self.below,
        };
        around.events.shared_misses += u64::from(!hit);
        *(if instruction { &mut around.events.instruction_misses } else { &mut around.events.data_misses }) += 1;
        let below = match here {
            Some((way, _)) => way,
            None if caches.second.is_some() => {
                around.events.second_misses += 1;
                caches.fill_second(key, state, owner, &mut around)
            }
            None => 0,
        };
        caches.fill_first(key, instruction, state, owner, below, &mut around);
        if here.is_none() && self.geometry.next_line {
            self.prefetch(request, key.number + 1);
        }
        served
    }

    /// Brings the line after a miss into the last private level, if it is of the same page and not here.
    #[inline(never)]
    fn prefetch(&mut self, request: Request, number: u64) {
        let of_a_page = self.geometry.page / self.geometry.line();
        let (key, request) = (Key::new(number), Request { kind: Kind::Read, ..request });
        if number % of_a_page == 0 || self.cores[request.core()].state(key) != State::Invalid {
            return;
        }
        self.events[request.processor()].prefetches += 1;
        let brought = self.bring_apart(request, key, State::Invalid, false);
        if self.cores[request.core()].second.is_some() {
            self.fill_second_apart(request, key, brought.state);
        } else {
            let mut around = Around {
                events: &mut self.events[request.processor()],
                evictions: &mut self.private_evictions,
                below: &mut self.below,
            };
            self.cores[request.core()].fill_first(key, false, brought.state, request.owner, 0, &mut around);
        }
    }

    #[inline(never)]
    fn fill_second_apart(&mut self, request: Request, key: Key, state: State) {
        let mut around = Around {
            events: &mut self.events[request.processor()],
            evictions: &mut self.private_evictions,
            below: &mut self.below,
        };
        self.cores[request.core()].fill_second(key, state, request.owner, &mut around);
    }
}
