//! Tasks whose arrivals come in bursts, on a core by itself.

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
pub(super) fn by_priority(tasks: &[Sporadic], distances: &[Duration], work: &Work, effort: &mut Effort) -> Responses {
    let bursty = bursty(tasks, distances);
    let one = |i: usize| response(&bursty[i], &bursty[..i], work.entry, work, effort);
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
pub(super) fn by_deadline(tasks: &[Sporadic], distances: &[Duration], work: &Work, effort: &mut Effort) -> Responses {
    let fits = schedulable(&bursty(tasks, distances), work.entry, work, effort) == Some(true);
    tasks.iter().map(|task| fits.then_some(task.deadline)).collect()
}
