//! Who is linked to which core at C and D: what waits competes, stale entries are mended, and what was displaced is put back.

use super::cpu::{Had, Standing};
use super::global::{Global, Spot};
use super::{Core, Fine, Round, C, D};
use tactus_policy::parts::Recorder;
use tactus_policy::Event;
use tactus_sync::facade::Ordering;
use tactus_sync::{Inside, Order, Unlocked};
use tactus_time::{CoreId, CoreSet, MAX_CORES};

impl Fine {
    /// A task has something new to compete with. If its ghost had a core, that is over.
    pub(super) fn compete(&self, which: usize, inside: &mut Inside<Global>, place: usize, round: &mut Round) {
        match inside.work().spot(place) {
            Spot::Linked(on) => {
                let mut seen = inside.look(|_| ());
                let (was_there, standing) = self.cores[on.index()].with(seen.order(), |cpu| {
                    let was_there = cpu.unlink(which, place);
                    (was_there, cpu.standing(which))
                });
                if was_there {
                    inside.work().note(on, standing);
                    inside.work().queue(place);
                    round.tell(on);
                }
                // Else whoever displaced it is about to put it back.
            }
            Spot::Leaving(_) => {}
            Spot::Out | Spot::Queued => inside.work().queue(place),
        }
    }

    /// Takes the container of C or D, does something with it, mends what is stale, and links what waits. What of D had to make
    /// way for C is put back afterwards.
    pub(super) fn serve(
        &self,
        which: usize,
        order: &mut Order<Unlocked>,
        round: &mut Round,
        does: impl FnOnce(&mut Inside<Global>, &mut Round),
    ) {
        let mut evicted = [None; MAX_CORES];
        self.serve_one(which, order, round, &mut evicted, does);
        if evicted.iter().any(Option::is_some) {
            // What is linked at D evicts nobody.
            self.serve_one(D, order, round, &mut [None; MAX_CORES], |inside, _| {
                for (n, place) in evicted.iter().enumerate() {
                    if let Some(place) = place {
                        self.reclaim(D, inside, CoreId(n as u8), usize::from(*place));
                    }
                }
            });
        }
    }

    pub(super) fn serve_one(
        &self,
        which: usize,
        order: &mut Order<Unlocked>,
        round: &mut Round,
        evicted: &mut [Option<u16>; MAX_CORES],
        does: impl FnOnce(&mut Inside<Global>, &mut Round),
    ) {
        let mut inside = self.global[which].enter(order);
        does(&mut inside, round);
        self.repair(which, &mut inside);
        self.link(which, &mut inside, round, evicted);
    }

    /// How the core stands to C and D has changed, and nobody there knows.
    pub(super) fn mark(&self, core: CoreId) {
        for stale in &self.stale {
            stale.fetch_or(1 << core.0, Ordering::AcqRel);
        }
    }

    /// Looks at each core anew whose entry is marked.
    pub(super) fn repair(&self, which: usize, inside: &mut Inside<Global>) {
        let mut marked = self.stale[which].load(Ordering::Acquire);
        if marked != 0 {
            marked = self.stale[which].swap(0, Ordering::AcqRel);
        }
        for core in CoreSet::from_bits(marked as u8).iter() {
            self.look_at(which, inside, core);
        }
    }

    pub(super) fn look_at(&self, which: usize, inside: &mut Inside<Global>, core: CoreId) {
        let mut seen = inside.look(|_| ());
        let standing = self.cores[core.index()].with(seen.order(), |cpu| cpu.standing(which));
        inside.work().note(core, standing);
    }

    /// Links what waits to cores while it is more urgent than what some core has.
    pub(super) fn link(
        &self,
        which: usize,
        inside: &mut Inside<Global>,
        round: &mut Round,
        evicted: &mut [Option<u16>; MAX_CORES],
    ) {
        let mut before = None;
        loop {
            let mut seen = inside.look(|global| global.offer(round.me));
            let Some((on, link)) = seen.known() else { return };
            let done = self.cores[on.index()].with(seen.order(), |cpu| {
                let standing = cpu.standing(which);
                match standing {
                    Standing::Open(linked) if linked.is_none_or(|linked| link.key < linked) => {}
                    Standing::Open(_) | Standing::Closed => return Err(standing),
                }
                let displaced =
                    cpu.linked[2 + which].replace(link).map(|old| (old.place(), cpu.holds(which, old.place())));
                let evicts = which == C && !link.ghost;
                let below = if evicts { cpu.linked[3].take().map(|link| link.place() as u16) } else { None };
                if evicts && self.has_level_d {
                    self.stale[D].fetch_or(1 << on.0, Ordering::AcqRel);
                }
                Ok((displaced, below, cpu.standing(which)))
            });
            match done {
                Ok((displaced, below, standing)) => {
                    let global = inside.work();
                    global.linked(link.place(), on);
                    global.note(on, standing);
                    match displaced {
                        Some((place, true)) => global.leaves(place, on),
                        Some((place, false)) => global.queue(place),
                        None => {}
                    }
                    if let Some(below) = below {
                        evicted[on.index()] = Some(below);
                    }
                    round.tell(on);
                }
                Err(standing) => {
                    // The entry was stale; or it was right, and nobody is less urgent.
                    if before == Some((on, standing)) {
                        return;
                    }
                    before = Some((on, standing));
                    inside.work().note(on, standing);
                }
            }
        }
    }

    /// Puts back what was taken off a core by somebody who had no right to this container, unless that core has done so.
    pub(super) fn reclaim(&self, which: usize, inside: &mut Inside<Global>, on: CoreId, place: usize) {
        if inside.work().spot(place) != Spot::Linked(on) {
            return;
        }
        let mut seen = inside.look(|_| ());
        let (here, holds) = self.cores[on.index()].with(seen.order(), |cpu| {
            (cpu.linked[2 + which].is_some_and(|link| link.place() == place), cpu.holds(which, place))
        });
        if here {
            return;
        }
        if holds {
            inside.work().leaves(place, on);
        } else {
            inside.work().queue(place);
        }
    }

    /// Puts back what was taken off a core, one container after the other.
    pub(super) fn put_back(&self, on: CoreId, displaced: [Option<u16>; 2], core: &mut Core, round: &mut Round) {
        for (which, place) in displaced.into_iter().enumerate() {
            if let Some(place) = place {
                self.serve(which, &mut core.order, round, |inside, _| {
                    self.reclaim(which, inside, on, usize::from(place));
                });
            }
        }
    }

    /// Accounts for what a core had. Whether that could go on.
    pub(super) fn settle(
        &self,
        which: usize,
        inside: &mut Inside<Global>,
        on: CoreId,
        had: &Had,
        event: Event,
        records: &mut Recorder,
    ) -> bool {
        let Some(ran) = had.ran else { return false };
        let place = usize::from(had.place);
        let (goes_on, changed) = inside.work().charge(had, ran, event, records);
        let mut seen = inside.look(|global| (global.link(place), global.spot(place)));
        let (link, spot) = seen.known();
        let (linked, standing) = self.cores[on.index()].with(seen.order(), |cpu| {
            if cpu.current[which] == Some(had.place) {
                cpu.current[which] = None;
            }
            let here = cpu.unlink(which, place);
            if here && !changed {
                cpu.linked[2 + which] = Some(link);
            }
            (here, cpu.standing(which))
        });
        if linked && changed {
            inside.work().note(on, standing);
            inside.work().queue(place);
        } else if !linked && (spot == Spot::Leaving(on) || spot == Spot::Linked(on)) {
            inside.work().queue(place);
        }
        goes_on && had.ghost.is_none()
    }
}
