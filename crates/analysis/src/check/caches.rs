//! What caches cost, in the check of a whole system.
//!
//! One core with fixed priorities or earliest deadlines, and nothing but jobs that run to their end, has a test that knows what each task
//! loads again after which others ([`preemption_delay`](crate::uniprocessor::preemption_delay)). All other tests count the longest reload of any task
//! in each entry of the scheduler. What other cores do to a job is part of its execution time; where that has no bound, neither has what the
//! job can hold up.

use super::rank::{self, Rank};
use super::report::{Bound, Check};
use crate::inflation::working_sets::{OtherCores, WorkingSets};
use tactus_model::{Migration, System};
use tactus_time::Duration;

/// What a job may lose of the caches when others have run in between or it has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CacheDelay {
    /// Nothing.
    #[default]
    None,
    /// So much at most, as time to load it again.
    Time(Duration),
    /// What the caches in the system's file tell ([`WorkingSets`]), and what other cores add.
    Geometry,
}

impl CacheDelay {
    /// The longest that any job of the system loads again.
    pub(super) fn longest(self, sets: Option<&WorkingSets>) -> Duration {
        match self {
            CacheDelay::None => Duration::ZERO,
            CacheDelay::Time(time) => time,
            CacheDelay::Geometry => sets.map(WorkingSets::longest).unwrap_or_default(),
        }
    }

    /// What the tasks have in the caches, where that is to be counted.
    pub(super) fn working_sets(self, system: &System) -> Option<WorkingSets<'_>> {
        WorkingSets::of(system).filter(|_| self == CacheDelay::Geometry && system.machine.overheads)
    }
}

/// The system whose jobs take as much longer as other cores add; nothing where they add nothing.
pub(super) fn beside_others(system: &System, sets: &WorkingSets) -> Option<System> {
    let added = |it: &OtherCores| match it {
        OtherCores::Delay(time) => *time,
        OtherCores::Unbounded(_) => Duration::ZERO,
    };
    if sets.other_cores().iter().all(|it| added(it).is_zero()) {
        return None;
    }
    let mut longer = system.clone();
    for (task, others) in longer.tasks.iter_mut().zip(sets.other_cores()) {
        for time in task.execution.iter_mut().flatten() {
            *time = time.checked_add(added(others)).unwrap_or(Duration::MAX);
        }
    }
    Some(longer)
}

/// Takes away the bounds that do not hold, since other cores may lengthen a job by more than is known.
pub(super) fn unbounded(system: &System, sets: &WorkingSets, check: &mut Check) {
    let fixed = match rank::of_policy(&system.policy) {
        Some((Migration::Partitioned, order)) => match Rank::of(order) {
            rank @ Rank::Fixed(_) if system.scheduling.servers.is_empty() => Some(rank),
            _ => None,
        },
        _ => None,
    };
    for (n, others) in sets.other_cores().iter().enumerate() {
        let OtherCores::Unbounded(why) = others else { continue };
        let task = &system.tasks[n];
        for (i, other) in system.tasks.iter().enumerate() {
            let apart = task.core.is_some() && other.core.is_some() && task.core != other.core;
            let above = fixed.is_some_and(|rank| (rank.key(system, i), i) < (rank.key(system, n), n));
            if apart || above {
                continue;
            }
            let verdict = &mut check.tasks[i];
            if verdict.bound == Bound::None {
                continue;
            }
            verdict.bound = Bound::None;
            if verdict.met {
                verdict.explanation = format!("no bound: what other cores add to `{}` is not known: {why}", task.name);
            }
        }
    }
}
