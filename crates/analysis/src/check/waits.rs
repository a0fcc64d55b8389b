//! Jobs that wait in the middle of their work (self-suspension).
//!
//! A wait counts as execution, in every test: what a job does while it waits could as well be work. For orders in which the urgency
//! of a job does not change this holds on one core and on several (Chen et al., "Many suspensions, many problems: a review of
//! self-suspending tasks in real-time systems", Real-Time Systems 55, 2019, sections 4.1 and 7). Proof: replace each wait by as much
//! execution. By induction from the most urgent job down, no job has at any time made less progress, its waits included, than in
//! that schedule: where it is as far as there and goes on there, fewer jobs before it are unfinished there than there are cores,
//! and no more of them are unfinished here.
//!
//! Under fixed priorities on one core a second bound is often better, and the lesser of both is given: a more urgent task takes its
//! execution alone, but may bunch it, as if it were released with a jitter of what its response is beyond its execution (Nelissen,
//! Fonseca, Raravi and Nelis, ECRTS 2015; the section 4.2 of the review says what of such claims was wrong and why this one stands).
//! It needs each response within its period. The task itself still counts its waits as execution.
//!
//! Each wait costs two entries of the scheduler, one to begin it, in the job, and one when its time is over, which may interrupt any
//! job of the core. And each time a job comes back it may find one less urgent in a critical section, as when it began.

use super::ceilings::Ceilings;
use super::orders::Responses;
use crate::task::Sporadic;
use tactus_model::System;
use tactus_time::Duration;

/// How long jobs of the task wait in all.
pub(super) fn total(system: &System, n: usize) -> Duration {
    let waits = system.scheduling.waits_of(n).iter();
    waits.fold(Duration::ZERO, |sum, wait| sum.checked_add(wait.length).unwrap_or(Duration::MAX))
}

/// What waiting adds to the execution of a job: the waits, and an entry to begin each.
pub(super) fn added(system: &System, n: usize, entry: Duration) -> Duration {
    let count = system.scheduling.waits_of(n).len() as u64;
    total(system, n).checked_add(entry * count).unwrap_or(Duration::MAX)
}

/// What it adds on one core, where less urgent jobs may be in critical sections whenever one comes back.
pub(super) fn added_beside(system: &System, n: usize, ceilings: Option<&Ceilings>, entry: Duration) -> Duration {
    let count = system.scheduling.waits_of(n).len() as u64;
    let longest = ceilings.map_or(Duration::ZERO, Ceilings::most);
    let blocked = longest.checked_mul(count).unwrap_or(Duration::MAX);
    added(system, n, entry).checked_add(blocked).unwrap_or(Duration::MAX)
}

/// The response of one of these tasks.
type Response<'r> = &'r mut dyn FnMut(&[Sporadic], usize) -> Option<Duration>;

/// The responses under fixed priorities on one core, the most urgent first. `waits` is how long jobs of each task wait in all; `response`
/// gives that of one of these tasks.
pub(super) fn by_priorities(tasks: &[Sporadic], waits: &[Duration], response: Response) -> Responses {
    let mut responses = Vec::new();
    each(tasks, waits, response, &mut |found, _| responses.push(found));
    responses
}

/// The tasks as the bound of the i-th one takes them: with waits as execution, or as jitter of others.
pub(super) fn as_counted(tasks: &[Sporadic], waits: &[Duration], i: usize, response: Response) -> Vec<Sporadic> {
    let (mut counted, mut place) = (Vec::new(), 0);
    each(tasks, waits, response, &mut |_, set| {
        if place == i {
            counted = set.to_vec();
        }
        place += 1;
    });
    counted
}

/// Shows the response of each task, and the tasks with which it was found.
fn each(
    tasks: &[Sporadic],
    waits: &[Duration],
    response: Response,
    show: &mut dyn FnMut(Option<Duration>, &[Sporadic]),
) {
    // What less urgent tasks see of the more urgent ones; nothing if one of those may be late.
    let mut seen: Option<Vec<Sporadic>> = Some(Vec::new());
    for (i, task) in tasks.iter().enumerate() {
        let as_execution = response(tasks, i);
        let beside = seen.as_ref().map(|seen| seen.iter().chain(&tasks[i..]).copied().collect::<Vec<Sporadic>>());
        let as_jitter = beside.as_ref().and_then(|beside| response(beside, i));
        let response = match (as_execution, as_jitter, &beside) {
            (execution, Some(jitter), Some(beside)) if execution.is_none_or(|execution| jitter < execution) => {
                show(Some(jitter), beside);
                Some(jitter)
            }
            (execution, ..) => {
                show(execution, tasks);
                execution
            }
        };
        seen = seen.filter(|_| response.is_some_and(|r| r <= task.period)).map(|mut seen| {
            let execution = task.execution.saturating_sub(waits[i]);
            let bunched = response.unwrap_or_default().saturating_sub(execution);
            let jitter = if waits[i].is_zero() { Duration::ZERO } else { bunched };
            seen.push(Sporadic { execution, jitter, ..*task });
            seen
        });
    }
}
