//! Tasks inside one reservation: the tests for one processor against its supply function.
//!
//! Shin and Lee 2003: fixed priorities hold if every busy window fits, the least w with rbf(w) ≤ sbf(w); EDF holds if
//! dbf(t) ≤ sbf(t) for every t. Both are exact for the supply at its worst phase, which a server may never
//! show, so sufficient for a given server. They are [`fixed_priority`], [`edf_response`] and [`edf_demand`] with t − sbf(t)
//! as the time that is withheld.

use crate::effort::Effort;
use crate::reservation::supply::{Inside, Supply};
use crate::task::Sporadic;
use crate::uniprocessor::edf_demand::Demand;
use crate::uniprocessor::{edf_demand, edf_response, fixed_priority};
use crate::utilisation::Utilisation;
use tactus_time::Duration;

/// How the tasks inside are scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Local {
    /// The most urgent task first in the list.
    FixedPriority,
    /// The earliest deadline first.
    EarliestDeadline,
}

/// Whether Σ U ≤ α: necessary, and without it no busy window need end.
pub fn fits_share(tasks: &[Sporadic], supply: &dyn Supply) -> bool {
    let (q, p) = supply.share();
    let Some(missing) = p.checked_sub(q) else { return false };
    Utilisation::of(tasks.iter().map(|τ| (τ.execution, τ.period)).chain([(missing, p)])).at_most(1)
}

/// The response-time bound of every task, the most urgent first under fixed priorities; `None` where there is none.
pub fn responses(
    tasks: &[Sporadic],
    policy: Local,
    blocking: Duration,
    supply: &dyn Supply,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    let inside = Inside(supply);
    match policy {
        Local::FixedPriority => (0..tasks.len())
            .map(|i| {
                if !fits_share(&tasks[..=i], supply) {
                    return None;
                }
                fixed_priority::response(&tasks[i], &tasks[..i], blocking, &inside, effort)
            })
            .collect(),
        Local::EarliestDeadline => {
            let all = if fits_share(tasks, supply) {
                edf_response::responses(tasks, blocking, &inside, effort)
            } else {
                None
            };
            match all {
                Some(all) => all.into_iter().map(Some).collect(),
                None => vec![None; tasks.len()],
            }
        }
    }
}

/// Whether every deadline is met; cheaper than [`responses`] under EDF.
pub fn schedulable(
    tasks: &[Sporadic],
    policy: Local,
    blocking: Duration,
    supply: &dyn Supply,
    effort: &mut Effort,
) -> bool {
    match policy {
        Local::FixedPriority => responses(tasks, policy, blocking, supply, effort)
            .iter()
            .zip(tasks)
            .all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline)),
        Local::EarliestDeadline => {
            fits_share(tasks, supply)
                && edf_demand::schedulable(tasks, blocking, &Inside(supply), effort) == Demand::Fits
        }
    }
}
