//! Runs of whole systems by which bounds are attacked: the policy itself decides, jobs take what they may or less, and are released at any
//! phase.

use super::Dice;
use std::collections::BTreeMap;
use tactus_analysis::{Bound, Check, TaskCheck, TaskVerdict};
use tactus_model::{Costs, Demand, System, Task};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, TaskId};

/// The longest response of each task in a run. A job that did not end counts up to the end of the run, and one that was dropped for ever.
pub fn longest(
    system: &System,
    check: &Check,
    costs: &Costs,
    demand: impl FnMut(TaskId, u32) -> Duration,
) -> Vec<Duration> {
    try_longest(system, check, costs, demand).unwrap_or_else(|error| panic!("{}: {error}", system.name))
}

/// As [`longest`], where the system may be one that cannot be run.
pub fn try_longest(
    system: &System,
    check: &Check,
    costs: &Costs,
    demand: impl FnMut(TaskId, u32) -> Duration,
) -> Result<Vec<Duration>, tactus_sim::Error> {
    let setup = tactus_plan::plan(system, check, costs).setup;
    let boxed = |(task, all)| -> tactus_sim::Arrivals<'_> { (task, Box::new(all)) };
    let arrivals = system.arrivals().into_iter().map(boxed).collect();
    let steps = system.job_steps();
    let trace = tactus_sim::simulate_with_steps(&setup, system.duration, (demand, arrivals), steps, costs)?;
    let mut worst = vec![Duration::ZERO; system.tasks.len()];
    let mut open: BTreeMap<(TaskId, u32), Instant> = BTreeMap::new();
    let mut records: Vec<_> = trace.cores.iter().flatten().collect();
    records.sort_by_key(|record| (record.time, record.kind != EventKind::Release));
    for record in records {
        let Some(task) = record.task else { continue };
        let job = (task, record.job);
        let response = match record.kind {
            EventKind::Release => {
                open.insert(job, Instant::from_nanos(record.arg));
                continue;
            }
            EventKind::Complete => open.remove(&job).map(|release| record.time.since(release)),
            EventKind::Dropped => {
                open.remove(&job);
                Some(Duration::MAX)
            }
            _ => None,
        };
        let longest = &mut worst[task.index()];
        *longest = (*longest).max(response.unwrap_or_default());
    }
    for ((task, _), release) in open {
        let longest = &mut worst[task.index()];
        *longest = (*longest).max((Instant::ZERO + system.duration).since(release));
    }
    Ok(worst)
}

/// The first task whose bound a run beats, with what it took. Where the system changes, the longest of its bounds counts, and none where it
/// has none at some time.
pub fn beaten(system: &System, check: &Check, worst: &[Duration]) -> Option<(usize, Duration, Duration)> {
    let bound = |task: &TaskCheck| match task.verdict {
        TaskVerdict::Bounded { bound: Bound::Response(bound), .. } => Some(bound),
        TaskVerdict::Bounded { bound: Bound::Tardiness(late), .. } => {
            Some(system.tasks[task.task.index()].deadline + late)
        }
        TaskVerdict::Untested(_) | TaskVerdict::Fails { .. } => None,
    };
    (0..system.tasks.len()).find_map(|n| {
        let stages = std::iter::once(&check.tasks).chain(check.changes.iter().map(|change| &change.tasks));
        let all: Option<Vec<Duration>> = stages.map(|tasks| bound(&tasks[n])).collect();
        let limit = all?.into_iter().max()?;
        (worst[n] > limit).then_some((n, worst[n], limit))
    })
}

/// What jobs take in an attack: in every other one what the file says, or all they may; else some of them less.
pub fn demands(system: &System, dice: &mut Dice) -> impl Fn(TaskId, u32) -> Duration {
    let (seed, full) = (dice.next(), dice.between(0, 1) == 0);
    let most = |task: &Task| match task.demand {
        Demand::Fixed(time) => time,
        Demand::Uniform { .. } | Demand::Beta { .. } | Demand::List(_) => task.budget(),
    };
    let times: Vec<Duration> = system.tasks.iter().map(most).collect();
    move |task, job| {
        let mut own = Dice::new(seed ^ (u64::from(task.0) << 32) ^ u64::from(job));
        let most = times[task.index()];
        match full || own.between(0, 3) > 0 {
            true => most,
            false => Duration::from_nanos(own.between(1, most.as_nanos())),
        }
    }
}
