//! Known offsets, on a core by itself: where time releases all its tasks, its schedule repeats, and is worked out.

use super::ceilings::Ceilings;
use super::orders::Responses;
use super::rank::Rank;
use super::work;
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::task::Sporadic;
use crate::uniprocessor::phased::{responses_of, Order, Phased};
use crate::utilisation::Utilisation;
use tactus_model::{Release, System};
use tactus_time::Duration;

/// The offsets of a core's tasks, and how its schedule is ordered.
pub(super) struct Known {
    offsets: Vec<Duration>,
    order: Order,
    /// The places of the tasks in the file, which decide between equal deadlines.
    ties: Vec<usize>,
}

/// The offsets of the tasks at these places, if they make a difference; or why they are not used.
pub(super) fn known(
    system: &System,
    places: &[usize],
    rank: Rank,
    (tasks, work, ceilings): (&[Sporadic], &Work, Option<&Ceilings>),
    effort: Effort,
) -> Result<Known, String> {
    let offsets: Vec<Duration> = places.iter().map(|n| system.tasks[*n].offset).collect();
    let order = match rank {
        Rank::Fixed(_) => Order::FixedPriority,
        Rank::Edf => Order::EarliestDeadline,
        Rank::Other(_) => return Err("its order is another one".into()),
    };
    if offsets.windows(2).all(|pair| pair[0] == pair[1]) {
        return Err("all offsets are the same".into());
    }
    if let Some(n) = places.iter().find(|n| work::release(system, **n) != Release::Periodic) {
        return Err(format!("time alone does not release `{}`", system.tasks[*n].name));
    }
    if places.iter().any(|n| !system.scheduling.waits_of(*n).is_empty()) {
        return Err("jobs wait".into());
    }
    let releases = tasks.iter().map(|τ| (τ.execution, τ.period)).chain(tasks.iter().map(|τ| (work.entry, τ.period)));
    if !work.is_none() && (!work.recurring.is_empty() || !Utilisation::of(releases).at_most(1)) {
        return Err("the system's own work is not known by instants".into());
    }
    let known = Known { offsets, order, ties: places.to_vec() };
    let set = Phased::new(tasks, &known.offsets, order);
    match known.responses(tasks, work, ceilings, &mut effort.clone()) {
        Some(_) => Ok(known),
        None => Err(match set.cycle() {
            Some(cycle) => {
                format!("the schedule repeats after {cycle} at the earliest, which is too long to be worked out")
            }
            None => "the schedule does not repeat within 100 years".into(),
        }),
    }
}

impl Known {
    /// The responses of tasks with these execution times.
    pub(super) fn responses(
        &self,
        tasks: &[Sporadic],
        work: &Work,
        ceilings: Option<&Ceilings>,
        effort: &mut Effort,
    ) -> Option<Vec<Duration>> {
        let blocked = |ceilings: &Ceilings| match self.order {
            Order::FixedPriority => (0..tasks.len()).map(|i| ceilings.blocking(tasks, i)).collect(),
            Order::EarliestDeadline => vec![ceilings.most(); tasks.len()],
        };
        let blocking: Vec<Duration> = ceilings.map_or_else(Vec::new, blocked);
        let (offsets, order, ties, entry) = (&self.offsets, self.order, &self.ties, work.entry);
        responses_of(&Phased { tasks, offsets, order, ties, blocking: &blocking, entry }, effort)
    }
}

/// The lesser answers of two tests that both hold.
pub(super) fn least(one: Option<Vec<Duration>>, other: Responses) -> Responses {
    match one {
        Some(all) => all.into_iter().zip(other).map(|(one, other)| Some(other.map_or(one, |it| it.min(one)))).collect(),
        None => other,
    }
}
