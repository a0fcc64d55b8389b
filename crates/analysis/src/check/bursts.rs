//! Tasks whose arrivals come in bursts, on a core by itself.
//!
//! What jobs keep from each other blocks as it does beside sporadic tasks: what is less urgent and has begun blocks a whole busy period
//! once, in which jobs of one task may be several. Waits count as execution, which holds whenever jobs arrive.

use super::ceilings::Ceilings;
use super::orders::Responses;
use super::work::release;
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::task::Sporadic;
use crate::terms::Terms;
use crate::uniprocessor::bursts::{response, schedulable, terms, Bursty};
use tactus_model::System;
use tactus_time::Duration;

/// The least distances of arrivals of these tasks.
pub(super) fn distances(system: &System, places: &[usize]) -> Vec<Duration> {
    let one = |&n: &usize| release(system, n).burst().map_or(system.tasks[n].period, |burst| burst.distance);
    places.iter().map(one).collect()
}

fn bursty(tasks: &[Sporadic], distances: &[Duration]) -> Vec<Bursty> {
    let pairs = tasks.iter().zip(distances);
    pairs.map(|(task, distance)| Bursty { task: *task, distance: *distance }).collect()
}

/// The responses of one core's tasks, the most urgent first.
pub(super) fn by_priority(
    (tasks, distances): (&[Sporadic], &[Duration]),
    ceilings: Option<&Ceilings>,
    work: &Work,
    effort: &mut Effort,
) -> Responses {
    let bursty = bursty(tasks, distances);
    let one = |i: usize| match ceilings {
        Some(ceilings) => ceilings.response_of_bursts((tasks, &bursty), i, work.entry, work, effort),
        None => response(&bursty[i], &bursty[..i], work.entry, work, effort),
    };
    (0..bursty.len()).map(one).collect()
}

/// The terms of the i-th response.
pub(super) fn terms_by_priority(
    (tasks, i): (&[Sporadic], usize),
    distances: &[Duration],
    work: &Work,
    effort: &mut Effort,
) -> Option<Terms> {
    let bursty = bursty(tasks, distances);
    terms(&bursty[i], &bursty[..i], work.entry, work, effort)
}

/// The deadlines, where all are met.
pub(super) fn by_deadline(
    (tasks, distances): (&[Sporadic], &[Duration]),
    ceilings: Option<&Ceilings>,
    work: &Work,
    effort: &mut Effort,
) -> Responses {
    let bursty = bursty(tasks, distances);
    let fits = match ceilings {
        Some(ceilings) => ceilings.by_demand_of_bursts((tasks, &bursty), work.entry, work, effort),
        None => schedulable(&bursty, work.entry, work, effort),
    };
    tasks.iter().map(|task| (fits == Some(true)).then_some(task.deadline)).collect()
}
