//! What the slots of a system supply to programs that may come: the values that admission goes by.
//!
//! A slot's server supplies its budget in every period after its longest time without service. What the system's own work takes of that
//! is bounded by a sum that depends on the window; here it becomes a smaller budget and a longer time without service, so that admission
//! needs integers alone. In windows that are one period longer the work W grows by at most w = max W(t + P) − W(t), so that Q − w of
//! every period is sure, once the supply has covered what W takes at the beginning.

use super::servers;
use super::subject::Subject;
use super::CacheDelay;
use crate::overhead;
use crate::reservation::charge::Work;
use crate::reservation::supply::Recurring;
use crate::task::Withheld;
use tactus_model::{Costs, System, SystemRevision};
use tactus_task::Features;
use tactus_time::Duration;

/// What a slot supplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotSupply {
    /// Nothing for its blackout, then its budget at the start of every period.
    pub supply: Recurring,
    /// What the system's own work adds to each job.
    pub completion: Duration,
}

/// What each slot supplies, in the order of the file; nothing where its server fails or has no test, so that nothing is admitted there.
pub fn slot_supplies(system: &System, costs: &Costs, cache: CacheDelay) -> Vec<Option<SlotSupply>> {
    if system.slots.is_empty() {
        return Vec::new();
    }
    let (present, _) = SystemRevision::first(system).present();
    let longest = cache.longest(cache.working_sets(&present).as_ref());
    let entry = if system.machine.overheads { overhead::entry(costs) + longest } else { Duration::ZERO };
    let Some(root) = present.policy.root() else { return vec![None; system.slots.len()] };
    let subject = Subject::of(&present, Features::NONE, &[], entry);
    let of = |slot: &tactus_model::Slot| servers::supply_of(&subject, root, entry, slot.server);
    system.slots.iter().map(of).collect()
}

/// The supply without what the system's own work takes of it; nothing if that is all.
pub(super) fn without_work(supply: Recurring, work: &Work) -> Option<SlotSupply> {
    let Recurring { budget, period, blackout } = supply;
    if work.is_none() {
        return Some(SlotSupply { supply, completion: Duration::ZERO });
    }
    // Each cost comes at most ⌈w/p⌉ times more in a window that is longer by w, and releases at no more instants than in a window of w.
    let more = work.at_most(period);
    let budget = Some(budget.saturating_sub(more)).filter(|budget| !budget.is_zero())?;
    let at_first = work.at_most(blackout + period).as_nanos();
    let (q, p) = (budget.as_nanos(), period.as_nanos());
    let rest = at_first % q;
    let later = if rest == 0 { 0 } else { rest + (p - q) };
    let made_up = (at_first / q).checked_mul(p)?.checked_add(later)?;
    let blackout = blackout.checked_add(Duration::from_nanos(made_up))?;
    Some(SlotSupply { supply: Recurring { budget, period, blackout }, completion: work.completion })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservation::supply::Supply;

    #[test]
    fn a_supply_without_the_work_is_never_more_than_what_the_work_leaves() {
        let us = Duration::from_micros;
        let mut compared = 0;
        for (q, p, blackout) in [(3_000, 10_000, 14_000), (500, 1_000, 1_000), (900, 1_000, 100), (40, 1_000, 2_000)] {
            for recurring in
                [vec![(us(2), us(130))], vec![(us(8), us(1_000)), (us(5), us(70))], vec![(us(2), us(50_000))]]
            {
                let work = Work { entry: us(2), completion: us(3), instants: None, recurring };
                let given = Recurring { budget: us(q), period: us(p), blackout: us(blackout) };
                let Some(found) = without_work(given, &work) else { continue };
                for t in (0..60_000).step_by(7) {
                    let left = given.least(us(t)).saturating_sub(work.at_most(us(t)));
                    assert!(found.supply.least(us(t)) <= left, "({q}, {p}, {blackout}) at {t}: {found:?}");
                    compared += 1;
                }
            }
        }
        assert!(compared > 50_000, "{compared}");
    }
}
