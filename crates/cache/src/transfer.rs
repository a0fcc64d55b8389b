//! How lines come into the private caches of a core, and how others lose them.

use crate::events::{Kind, Served};
use crate::geometry::Inclusion;
use crate::levels::{Levels, Request};
use crate::line::{Line, State};
use crate::set::{Filled, Key, Ways};

/// What a private cache gets from outside.
pub(crate) struct Brought {
    pub(crate) state: State,
    pub(crate) served: Served,
    /// Whether the shared level had it.
    pub(crate) hit: bool,
}

/// What other cores answer.
#[derive(Clone, Copy)]
struct Others {
    /// In which state the best of their copies was.
    strongest: State,
    /// Those that keep a copy.
    holders: u8,
    /// Whether a changed line has to be written.
    write_back: bool,
}

/// The cores of a set, the lowest first.
fn each(cores: u8) -> impl Iterator<Item = usize> {
    let mut rest = u32::from(cores);
    core::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let core = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(core)
    })
}

impl<P: Ways, S: Ways> Levels<P, S> {
    /// The cores other than that of the request that may hold a line; `known` to the shared level, if it has the line.
    #[inline(always)]
    fn candidates(&self, request: Request, known: u8) -> u8 {
        let all = if self.below.inclusion == Inclusion::Inclusive { known } else { self.all };
        all & !(1 << request.core())
    }

    /// Gets the right to write into a copy that is here without.
    #[inline(always)]
    pub(crate) fn upgrade(&mut self, request: Request, key: Key, state: State) -> Served {
        if state == State::Exclusive {
            return Served::First;
        }
        self.take_from_others(request, key)
    }

    #[inline(never)]
    fn take_from_others(&mut self, request: Request, key: Key) -> Served {
        self.events[request.processor()].upgrades += 1;
        let mut known = 0;
        if let Some(line) = self.below.shared.find(key) {
            known = line.sharers();
            line.set_sharers(1 << request.core());
        }
        let mut served = Served::Shared;
        for other in each(self.candidates(request, known)) {
            if self.cores[other].invalidate(key) != State::Invalid {
                self.events[other * self.geometry.threads].invalidated += 1;
                served = Served::RemoteClean;
            }
        }
        if self.below.inclusion == Inclusion::Victim {
            self.below.shared.remove(key);
        }
        served
    }

    /// Gets a line that the private levels asked lack from the shared level, other cores or memory. The core has copies in state `own`.
    #[inline(always)]
    pub(crate) fn bring(&mut self, request: Request, key: Key, own: State, demand: bool) -> Brought {
        let me = 1 << request.core();
        let (write, inclusion) = (request.kind == Kind::Write, self.below.inclusion);
        let set = self.below.shared.set(key.number);
        let (others, mut state, mut served);
        let way = set.find(key);
        let hit = way.is_some();
        if let Some(way) = way {
            set.to_front(way);
            let line = *set.line(way);
            let candidates = self.candidates(request, line.sharers());
            (others, state) = self.ask(candidates, request, key, own);
            served = Served::Shared;
            if inclusion != Inclusion::Victim {
                let line = self.below.shared.set(key.number).line(way);
                line.set_sharers(if write { me } else { line.sharers() | me });
            } else if write || (others.holders == 0 && own == State::Invalid) {
                self.below.shared.remove(key);
                if line.state().is_dirty() {
                    state = State::Modified;
                }
            }
            if demand && others.strongest == State::Invalid && request.kind == Kind::Read {
                let expected = inclusion == Inclusion::Inclusive && candidates != 0;
                self.events[request.processor()].remote_miss += u64::from(expected);
            }
        } else {
            (others, state) = self.ask(self.candidates(request, 0), request, key, own);
            served = Served::Memory;
            if inclusion != Inclusion::Victim {
                let mut line = Line::new(key.number, State::Exclusive, request.owner);
                line.set_sharers(others.holders | me);
                let filled = self.below.shared.insert(key, line);
                if filled.victim.is_valid() {
                    self.drop_shared(filled, request);
                }
            }
        }
        if others.strongest != State::Invalid {
            served = self.count_answer(request, &others, demand);
            if others.write_back {
                self.below.write(key);
            }
        }
        Brought { state, served, hit }
    }

    /// The same, where it is not worth to have it in place.
    #[inline(never)]
    pub(crate) fn bring_apart(&mut self, request: Request, key: Key, own: State, demand: bool) -> Brought {
        self.bring(request, key, own, demand)
    }

    /// Asks other cores, where that is needed: what they answer, and in which state the core that asks has the line then.
    #[inline(always)]
    fn ask(&mut self, candidates: u8, request: Request, key: Key, own: State) -> (Others, State) {
        let write = request.kind == Kind::Write;
        let mut others = Others { strongest: State::Invalid, holders: 0, write_back: false };
        if own != State::Invalid && (!write || own == State::Modified) {
            return (others, own);
        }
        if candidates != 0 {
            others = self.snoop(candidates, key, write);
        }
        if !write {
            return (others, self.geometry.protocol.read_fill(others.strongest != State::Invalid));
        }
        if own != State::Invalid {
            let caches = &mut self.cores[request.core()];
            caches.set_state_in_first(key, false, State::Modified);
            caches.set_state_in_first(key, true, State::Modified);
        }
        (others, State::Modified)
    }

    /// Another core had a copy.
    #[inline(always)]
    fn count_answer(&mut self, request: Request, others: &Others, demand: bool) -> Served {
        let changed = others.strongest.is_dirty();
        let events = &mut self.events[request.processor()];
        if demand {
            match request.kind {
                Kind::Read if changed => events.hitm += 1,
                Kind::Read => events.hit_remote += 1,
                Kind::Write => events.store_hitm += u64::from(changed),
                Kind::Fetch => {}
            }
        }
        if changed {
            Served::RemoteModified
        } else {
            Served::RemoteClean
        }
    }

    /// Asks other cores for a line that one wants to read or to write.
    #[inline(never)]
    fn snoop(&mut self, candidates: u8, key: Key, write: bool) -> Others {
        let mut others = Others { strongest: State::Invalid, holders: 0, write_back: false };
        for other in each(candidates) {
            let caches = &mut self.cores[other];
            let copy = if write {
                caches.invalidate(key)
            } else {
                let (copy, back) = caches.snoop_read(self.geometry.protocol, key);
                others.write_back |= back;
                copy
            };
            if copy == State::Invalid {
                continue;
            }
            others.strongest = others.strongest.max(copy);
            others.holders |= u8::from(!write) << other;
            let events = &mut self.events[other * self.geometry.threads];
            events.snooped += u64::from(copy != State::Shared);
            events.invalidated += u64::from(write);
        }
        others
    }

    /// The shared level dropped a line that the request drove out.
    #[inline(always)]
    fn drop_shared(&mut self, filled: Filled, request: Request) {
        let Filled { victim, key, .. } = filled;
        self.below.evictions.count(request.owner, victim.owner());
        let mut dirty = victim.state().is_dirty();
        if self.below.inclusion == Inclusion::Inclusive {
            for core in each(victim.sharers()) {
                let state = self.cores[core].remove(key);
                if state != State::Invalid {
                    dirty |= state.is_dirty();
                    self.events[core * self.geometry.threads].back_invalidated += 1;
                }
            }
        }
        self.below.memory_writes += u64::from(dirty);
    }
}
