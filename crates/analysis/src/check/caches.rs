//! What caches cost, in the check of a whole system.
//!
//! One core with fixed priorities or earliest deadlines, and nothing but jobs that run to their end, has a test that knows what each task
//! loads again after which others ([`preemption_delay`](crate::uniprocessor::preemption_delay)). All other tests count the longest reload of any task
//! in each entry of the scheduler. What other cores do to a job is part of its execution time; where that has no bound, or what preemptions
//! cost it has none, neither has what the job can hold up.

use super::memory;
use crate::inflation::working_sets::{OtherCores, WorkingSets};
use tactus_model::System;
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

/// What other cores add to the jobs of a system, and of whom nobody knows what preemptions add.
pub(super) struct BesideOthers {
    /// The system whose jobs take so much longer; nothing where nothing is added.
    pub longer: Option<System>,
    /// By task, what nobody knows of it, and why.
    pub unknown: Vec<Option<String>>,
}

/// The system whose jobs take longer by what is known to be added.
pub(super) fn longer(system: &System, added: &[Result<Duration, String>]) -> System {
    let mut longer = system.clone();
    for (task, added) in longer.tasks.iter_mut().zip(added) {
        let added = added.as_ref().copied().unwrap_or_default();
        for time in task.execution.iter_mut().flatten() {
            *time = time.checked_add(added).unwrap_or(Duration::MAX);
        }
    }
    longer
}

/// By the lines that others ask for where the file says what one costs, by colours where caches are counted: the smaller where both tell.
pub(super) fn added(system: &System, sets: Option<&WorkingSets>) -> Vec<Result<Duration, String>> {
    let by_colour = |it: &OtherCores| match it {
        OtherCores::Delay(time) => Ok(*time),
        OtherCores::Unbounded(why) => Err(why.to_string()),
    };
    let by_colours = sets.map(|sets| sets.other_cores().iter().map(by_colour).collect::<Vec<_>>());
    match (memory::added(system), by_colours) {
        (Some(lines), Some(colours)) => lines.into_iter().zip(colours).map(smaller).collect(),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

impl BesideOthers {
    pub(super) fn of(system: &System, sets: Option<&WorkingSets>) -> BesideOthers {
        let added = added(system, sets);
        let any = added.iter().any(|it| it.as_ref().is_ok_and(|time| !time.is_zero()));
        let unknown = |n: usize| {
            let name = &system.tasks[n].name;
            let by_others =
                || Some(format!("other cores add to `{name}` is not known: {}", added.get(n)?.as_ref().err()?));
            let lasting = || Some(format!("`{name}` loads again is not known: {}", sets?.lasts(n)?));
            // The policy goes by the times that the file says, and so may prefer one job where the longer times prefer the other.
            let by_execution = || {
                let order = system.order_of_queue(n).filter(|order| any && order.goes_by_execution())?;
                Some(format!(
                    "other cores add to jobs is not in their order, {}, which goes by the execution times of the file",
                    order.label()
                ))
            };
            by_others().or_else(lasting).or_else(by_execution)
        };
        BesideOthers {
            longer: any.then(|| longer(system, &added)),
            unknown: (0..system.tasks.len()).map(unknown).collect(),
        }
    }
}

/// The smaller of two bounds, of which one may be unknown.
fn smaller(both: (Result<Duration, String>, Result<Duration, String>)) -> Result<Duration, String> {
    match both {
        (Ok(one), Ok(other)) => Ok(one.min(other)),
        (one, other) => one.or(other),
    }
}
