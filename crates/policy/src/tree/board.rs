//! Changes of cores that share queues, where servers have schedulers of their own. They take effect when all these cores are quiet,
//! and each of the root's knows only about its own: so each tells the others here until when nothing is left on it that keeps a
//! change from taking effect, and whoever finds that all are quiet settles it for all. The others make it as of that time when
//! they look here before their next decision, to which they are called.

use super::apart::{make, Elsewhere, Outcome};
use super::build;
use super::change::{attach, Changes};
use super::domain::Domain;
use super::tier::{cores_of, Tier, TierPlan};
use crate::Kind;
use alloc::vec::Vec;
use tactus_time::{CoreId, CoreSet, Instant, MAX_CORES};

/// What the root's cores tell each other of the changes of those that share queues. One core at a time uses it, from before a
/// decision until after it.
pub struct Board {
    cores: CoreSet,
    /// The tree on all these cores as it is by what was settled. Nothing runs in it.
    whole: Domain,
    changes: Changes,
    outcomes: Vec<Outcome>,
    /// By place in the list and core: until when nothing is left there.
    until: Vec<[Instant; MAX_CORES]>,
    /// The latest decision here.
    latest: Instant,
}

impl Board {
    /// One for each set of cores that share queues and on which something changes.
    pub fn of(plan: &TierPlan) -> Vec<Board> {
        let Some(setup) = &plan.whole else { return Vec::new() };
        let Kind::Changing(changing) = &setup.kind else { return Vec::new() };
        let shared = |set: &CoreSet| set.bits().count_ones() > 1;
        let board = |cores: CoreSet| {
            let mut whole = build::domain(setup, &changing.tree, cores, true);
            attach(&mut whole, changing, |part| cores_of(setup, &changing.tree, part).bits() & cores.bits() != 0);
            let changes = whole.changes.take().filter(|changes| !changes.list.is_empty())?;
            let until = alloc::vec![[Instant::ZERO; MAX_CORES]; changes.list.len()];
            Some(Board {
                cores,
                whole,
                outcomes: Vec::with_capacity(until.len()),
                changes,
                until,
                latest: Instant::ZERO,
            })
        };
        build::domains(setup.cores, &changing.tree).into_iter().filter(shared).filter_map(board).collect()
    }

    /// The cores.
    pub fn cores(&self) -> CoreSet {
        self.cores
    }

    /// Before the core decides: what was settled, and what is known of the others. Gives the time of the decision: not before that of
    /// another one which came here first, so that nobody has to make a change as of a time before its last decision.
    pub fn hear(&mut self, tier: &mut Tier, core: CoreId, now: Instant) -> Instant {
        self.latest = self.latest.max(now);
        self.say(tier, core);
        self.latest
    }

    fn say(&self, tier: &mut Tier, core: CoreId) {
        tier.told(self.outcomes.iter().copied());
        let place = self.outcomes.len();
        let Some(change) = self.changes.list.get(place) else { return };
        let overloads = self.whole.overloads(&self.changes, change);
        let others = self.cores.iter().filter(|other| *other != core);
        let until = others.map(|other| self.until[place][other.index()]).min().unwrap_or(Instant::NEVER);
        tier.hear_elsewhere(Elsewhere { place, asked: self.changes.asked, until, overloads });
    }

    /// After its decision: what it has settled, and what is left on it. The cores that are to be called.
    pub fn tell(&mut self, tier: &Tier, core: CoreId) -> CoreSet {
        let known = self.outcomes.len();
        for outcome in tier.outcomes().iter().skip(known) {
            let change = self.changes.list[self.changes.settled];
            self.changes.asked = self.changes.asked.max(self.changes.settled + 1);
            if let Outcome::Changed(at) = outcome {
                make(&mut self.whole, &mut self.changes, &change, (core, *at));
            }
            self.changes.settled += 1;
            self.outcomes.push(*outcome);
        }
        self.changes.asked = self.changes.asked.max(tier.asked());
        let mut called = if self.outcomes.len() > known { self.cores } else { CoreSet::EMPTY };
        called.remove(core);
        for (until, left) in self.until.iter_mut().zip(tier.left().1) {
            // What others said they said before they knew of this.
            called.iter().for_each(|other| until[other.index()] = Instant::ZERO);
            until[core.index()] = left.until;
        }
        called
    }
}
