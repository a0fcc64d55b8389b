//! MC² with the whole machinery of its source (Herman et al., 2.6 to 2.9): one lock for each of the 2m + 2 containers and
//! one for each core, the rules of their order in their types ([`tactus_sync::Container`], [`tactus_sync::Cell`]);
//! and, each if wanted, an interrupt master, merged timers, and redistribution of work.
//!
//! **Stale entries.** The containers of C and D know how each core stands to them. Who closes a core to them holds that
//! core's cell and has no right to those containers, so it leaves a mark; everybody who takes such a container mends what is
//! marked before relying on it, and looks again at the core itself before linking anything to it. What was displaced is
//! remembered and put back once its container can be taken (`reclaim`), unless the core has done so by then.
//!
//! A task of C or D that a core still has on its hands waits for that core, as in `shared`; so no job is on two cores.
//!
//! **Interrupt master.** All timers for releases and slots are core 0's; other cores have time-outs for budgets only.
//! Without it each core serves A and B by itself, and the releases of C and D are spread over the cores.
//!
//! **Redistribution.** What a core of C or D had when A or B took it over is parked in the core's cell, with the time that it
//! ran; core 0 is notified, charges it, queues it, and finds a core for it.
//!
//! Decisions have no single order here, so they carry no tickets, and a run cannot be replayed decision for decision.

mod choose;
mod cpu;
mod global;
mod links;
mod timers;

use crate::VariantError;
use alloc::vec::Vec;
use choose::first_of;
use cpu::{Cpu, Had};
use global::Global;
use tactus_policy::parts::mc2::{checked, CoreStatus, Local};
use tactus_policy::parts::RELEASE_CORE;
use tactus_policy::parts::{Clock, Recorder};
use tactus_policy::parts::{Heap, Key};
use tactus_policy::{Decision, Event, Policy, PolicyConfig};
use tactus_record::Sink;
use tactus_sync::facade::{AtomicU32, Ordering};
use tactus_sync::{Cell, Container, Order, Unlocked};
use tactus_time::{CoreId, CoreSet, Instant, Level};
use timers::{Name, Names, Timers};

/// C and D by their place among the containers that all cores share.
const C: usize = 0;
const D: usize = 1;

/// What all cores share.
pub struct Fine {
    /// Of each core: A, and B.
    local: [Vec<Container<Local>>; 2],
    /// C, and D.
    global: [Container<Global>; 2],
    has_level_d: bool,
    cores: Vec<Cell<Cpu>>,
    /// Cores whose entries at C, and at D, are stale; one bit each.
    stale: [AtomicU32; 2],
    /// Cores that have left something to the master.
    parked: AtomicU32,
    work_redistribution: bool,
}

/// What belongs to one core.
pub struct Core {
    id: CoreId,
    clock: Clock,
    order: Order<Unlocked>,
    status: CoreStatus,
    timers: Timers,
    /// The next boundaries at C and D that this core serves.
    releases: [Heap; 2],
    /// Whether it has tasks of A, and of B.
    has: [bool; 2],
}

/// One call: what it is about, and whom it concerns besides.
struct Round {
    me: CoreId,
    now: Instant,
    notify: CoreSet,
}

impl Round {
    fn tell(&mut self, core: CoreId) {
        if core != self.me {
            self.notify.insert(core);
        }
    }
}

/// What of the source's machinery is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Machinery {
    /// Core 0 serves the releases of all cores.
    pub interrupt_master: bool,
    /// Its timers that expire within a microsecond are one. Needs the master.
    pub timer_merging: bool,
    /// What A and B displace is queued by the master. Needs the master.
    pub work_redistribution: bool,
}

impl Fine {
    /// Makes the containers and all cores.
    ///
    /// # Errors
    /// If the set-up is not one for MC², or breaks a rule; or if something is on that needs the master.
    pub fn new(setup: &PolicyConfig, fine: Machinery) -> Result<(Self, Vec<Core>), VariantError> {
        if (fine.timer_merging || fine.work_redistribution) && !fine.interrupt_master {
            return Err(VariantError::NoInterruptMaster);
        }
        let mc2 = checked(setup)?;
        let ids = || (0..setup.cores).map(|n| CoreId(n as u8));
        let locals = |level| ids().map(|id| Local::new(setup, mc2, id, &[level])).collect::<Vec<_>>();
        let mut locals = [locals(Level::A), locals(Level::B)];
        let (level_c, first_c) = Global::new(setup, mc2, Level::C);
        let (level_d, first_d) = Global::new(setup, mc2, Level::D);
        let mut cores: Vec<Core> = ids()
            .map(|id| Core {
                id,
                clock: Clock::default(),
                order: Order::unlocked(),
                status: CoreStatus::default(),
                timers: Timers::new(fine.timer_merging),
                releases: [first_c.len(), first_d.len()].map(Heap::with_capacity),
                has: [0, 1].map(|level| !locals[level][id.index()].is_empty()),
            })
            .collect();
        let serving = |core: usize| if fine.interrupt_master { RELEASE_CORE.index() } else { core };
        for (level, locals) in locals.iter_mut().enumerate() {
            for (n, local) in locals.iter_mut().enumerate() {
                cores[serving(n)].timers.set(local.due(Instant::ZERO), Name::new(level, CoreId(n as u8)));
            }
        }
        for (which, first) in [first_c, first_d].iter().enumerate() {
            for (place, first) in first.iter().enumerate() {
                cores[serving(place % setup.cores)].releases[which].push(Key::at(*first, place));
            }
        }
        for core in &mut cores {
            let id = core.id;
            for which in [C, D] {
                let first = core.releases[which].peek().map_or(Instant::NEVER, Key::time);
                core.timers.set(first, Name::new(2 + which, id));
            }
        }
        let shared = Fine {
            local: locals.map(|locals| locals.into_iter().map(Container::new).collect()),
            has_level_d: !level_d.is_empty(),
            global: [Container::new(level_c), Container::new(level_d)],
            cores: ids().map(|_| Cell::new(Cpu::default())).collect(),
            // Nobody has looked at any core yet.
            stale: [0, 1].map(|_| AtomicU32::new(u32::MAX >> (32 - setup.cores))),
            parked: AtomicU32::new(0),
            work_redistribution: fine.work_redistribution,
        };
        Ok((shared, cores))
    }
}

impl Policy for Fine {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        self.decide(core, now, event, records)
    }
}

impl Fine {
    fn decide(&self, core: &mut Core, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
        let last = core.clock.last();
        let (now, elapsed) = core.clock.advance(now);
        let me = core.id;
        let mut records = Recorder { sink: records, core: me, now };
        let mut round = Round { me, now, notify: CoreSet::EMPTY };
        let ran = core.status.job();
        let mut unfinished = None;

        // What ended must not be taken for running when releases look for a core.
        let ended = matches!(event, Event::Complete | Event::Remove);
        let mut settled = [false; 2];
        for which in [C, D] {
            if ended && ran.is_some_and(|job| Global::has(&job, which)) {
                let had = Had { place: ran.map_or(0, |job| job.place), ghost: None, ran: Some(elapsed) };
                let mut inside = self.global[which].enter(&mut core.order);
                self.settle(which, &mut inside, me, &had, event, &mut records);
                settled[which] = true;
            }
        }
        self.expire(core, &mut round, &mut records);
        if me == RELEASE_CORE {
            self.take_parked(core, &mut round, &mut records);
        }

        let (local, elapsed, displaced) =
            self.choose_local(core, (last, elapsed), event, &mut round, &mut unfinished, &mut records);
        // What the core had of C and D, and has not accounted for.
        let had = [C, D].map(|which| {
            let ghost = core.status.ghosts[2].filter(|_| which == C);
            let job = ran.filter(|job| Global::has(job, which) && !settled[which]);
            let place = job.map(|job| job.place).or(ghost.map(|ghost| ghost.place));
            place.map(|place| Had { place, ghost, ran: Some(elapsed) })
        });
        if let Some(ghost) = &mut core.status.ghosts[2] {
            ghost.left = ghost.left.saturating_sub(elapsed);
        }
        let mut links = [None; 2];
        if local.as_ref().is_some_and(|local| local.run.is_some()) {
            for which in [C, D] {
                if settled[which] {
                    // Others may have what ended here left open.
                    self.serve(which, &mut core.order, &mut round, |_, _| {});
                }
                let goes_on = self.hand_over(which, core, had[which], displaced[which], &mut round, &mut records);
                unfinished = unfinished.or(ran.filter(|job| goes_on && Global::has(job, which)));
            }
        } else {
            for which in [C, D] {
                if which == D && !self.has_level_d {
                    continue;
                }
                let mut goes_on = false;
                self.serve(which, &mut core.order, &mut round, |inside, _| {
                    if let Some(had) = &had[which] {
                        goes_on = self.settle(which, inside, me, had, Event::Timer, &mut records);
                    }
                    if let Some(place) = displaced[which] {
                        self.reclaim(which, inside, me, usize::from(place));
                    }
                    self.look_at(which, inside, me);
                });
                unfinished = unfinished.or(ran.filter(|job| goes_on && Global::has(job, which)));
            }
            links = self.cores[me.index()].with(&mut core.order, |cpu| {
                let links = [cpu.linked[2], cpu.linked[3]];
                cpu.current = links.map(|link| link.map(|link| link.place() as u16));
                links
            });
        }
        self.conclude(core, local, links, unfinished, &round, &mut records)
    }

    /// Handles what this core's timers have expired for.
    fn expire(&self, core: &mut Core, round: &mut Round, records: &mut Recorder) {
        let expired = core.timers.expired(round.now);
        if expired != Names::default() {
            records.sink.stage();
        }
        for name in expired {
            let due = match name.level() {
                level @ (0 | 1) => self.release_local(level, name.core(), core, round, records),
                level => self.release_global(level - 2, core, round, records),
            };
            core.timers.set(due, name);
            records.sink.stage();
        }
    }

    /// Releases of A or B on some core. If a job is to have that core, whatever is below it goes: its tasks are put back
    /// one container after another. Gives when more is due.
    fn release_local(
        &self,
        level: usize,
        on: CoreId,
        core: &mut Core,
        round: &mut Round,
        records: &mut Recorder,
    ) -> Instant {
        let (due, displaced) = {
            let mut inside = self.local[level][on.index()].enter(&mut core.order);
            let mut seen = inside.look(|local| {
                let table = local.look_up(round.now);
                local.release_due(false, records);
                let wanted = local.choose_and_wait(&table, round.now, false);
                (first_of(local, level, &wanted), local.due(round.now))
            });
            let (first, due) = seen.known();
            if on == round.me {
                // It is about to choose.
                (due, None)
            } else {
                let displaced = self.cores[on.index()].with(seen.order(), |cpu| {
                    self.mark(on);
                    cpu.offer(level, first)
                });
                (due, displaced)
            }
        };
        if let Some(displaced) = displaced {
            round.tell(on);
            self.put_back(on, displaced, core, round);
        }
        due
    }

    /// Releases of C or D. Gives when more is due.
    fn release_global(&self, which: usize, core: &mut Core, round: &mut Round, records: &mut Recorder) -> Instant {
        let releases = &mut core.releases[which];
        self.serve(which, &mut core.order, round, |inside, round| {
            while let Some(due) = releases.peek().filter(|due| due.time() <= round.now) {
                let (next, changed) = inside.work().release(due, records);
                match next {
                    Some(next) => releases.replace_first(Key::at(next, due.place())),
                    None => {
                        releases.pop();
                    }
                }
                if changed {
                    self.compete(which, inside, due.place(), round);
                }
            }
        });
        core.releases[which].peek().map_or(Instant::NEVER, Key::time)
    }

    /// The core goes on to A or B: what it had of C or D, and what was linked to it and displaced, is given back; or left to
    /// the master. Whether the job that it had could go on.
    fn hand_over(
        &self,
        which: usize,
        core: &mut Core,
        had: Option<Had>,
        displaced: Option<u16>,
        round: &mut Round,
        records: &mut Recorder,
    ) -> bool {
        let me = round.me;
        // What was displaced and had the core is one thing.
        let linked = displaced.filter(|place| had.is_none_or(|had| had.place != *place));
        let linked = linked.map(|place| Had { place, ghost: None, ran: None });
        if had.is_none() && linked.is_none() {
            return false;
        }
        if self.work_redistribution && me != RELEASE_CORE {
            let parked = self.cores[me.index()].with(&mut core.order, |cpu| {
                let mut all = true;
                for had in had.into_iter().chain(linked) {
                    all &= cpu.park(which, had);
                }
                all
            });
            if parked {
                self.parked.fetch_or(1 << me.0, Ordering::AcqRel);
                round.tell(RELEASE_CORE);
                // Whether it has used up its budget is for the master to find out.
                return had.is_some_and(|had| had.ghost.is_none());
            }
        }
        let mut goes_on = false;
        self.serve(which, &mut core.order, round, |inside, _| {
            if let Some(had) = &had {
                goes_on = self.settle(which, inside, me, had, Event::Timer, records);
            }
            if let Some(linked) = &linked {
                self.reclaim(which, inside, me, usize::from(linked.place));
            }
        });
        goes_on
    }

    /// Takes over what other cores have left.
    fn take_parked(&self, core: &mut Core, round: &mut Round, records: &mut Recorder) {
        if self.parked.load(Ordering::Acquire) == 0 {
            return;
        }
        let left = CoreSet::from_bits(self.parked.swap(0, Ordering::AcqRel) as u8);
        for which in [C, D] {
            if which == D && !self.has_level_d {
                continue;
            }
            self.serve(which, &mut core.order, round, |inside, _| {
                for on in left.iter() {
                    let mut seen = inside.look(|_| ());
                    let parked =
                        self.cores[on.index()].with(seen.order(), |cpu| core::mem::take(&mut cpu.parked[which]));
                    for had in parked.iter().flatten() {
                        match had.ran {
                            Some(_) => {
                                self.settle(which, inside, on, had, Event::Timer, records);
                            }
                            None => self.reclaim(which, inside, on, usize::from(had.place)),
                        }
                    }
                }
            });
        }
    }
}
