//! What the bounds of the tests of one core add up from.

use super::super::orders::{self, Queue};
use super::super::{bursts, waits};
use super::Core;
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::task::Sporadic;
use crate::terms::Terms;
use crate::uniprocessor::fixed_priority;
use crate::uniprocessor::preemption_delay::{self, Interrupted};

/// Of a test whose bounds are no sum.
pub(super) fn none(_: &Core, _: &[Sporadic], _: usize, _: &mut Effort) -> Option<Terms> {
    None
}

fn of_queue(core: &Core, tasks: &[Sporadic], terms: impl FnOnce(Queue) -> Option<Terms>) -> Option<Terms> {
    let work = core.work();
    terms(core.queue(tasks, &work))
}

pub(super) fn by_priority(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::fixed_terms(queue, i, effort))
}

pub(super) fn by_deadline(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::deadlines_terms(queue, i, effort))
}

pub(super) fn by_demand(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::demand_terms(queue, i, effort))
}

pub(super) fn first_come(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::first_come_terms(queue, i, effort))
}

pub(super) fn turns(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::turns_terms(queue, i, effort))
}

pub(super) fn turns_among_equals(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::turns_among_equals_terms(queue, i, effort))
}

pub(super) fn laxity_at_release(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::laxity_at_release_terms(queue, i, effort))
}

pub(super) fn least_laxity(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    of_queue(core, tasks, |queue| orders::least_laxity_terms(queue, i, effort))
}

fn beside_ceilings(core: &Core, tasks: &[Sporadic], i: usize, work: &Work, effort: &mut Effort) -> Option<Terms> {
    match &core.ceilings {
        Some(ceilings) => ceilings.terms((tasks, i), work.entry, work, effort),
        None => fixed_priority::terms(&tasks[i], &tasks[..i], work.entry, work, effort),
    }
}

pub(super) fn by_ceilings(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    beside_ceilings(core, tasks, i, &core.work(), effort)
}

pub(super) fn by_waits(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    let work = core.work();
    let mut spent = *effort;
    let mut one = |tasks: &[Sporadic], i: usize| core.by_priority(tasks, i, &work, &mut spent);
    let counted = waits::as_counted(tasks, &core.waits, i, &mut one);
    beside_ceilings(core, &counted, i, &work, effort)
}

pub(super) fn beside_sections(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    let work = core.work();
    match &core.ceilings {
        Some(ceilings) => ceilings.terms_by_deadline((tasks, i), work.entry, &work, *effort),
        None => by_deadline(core, tasks, i, effort),
    }
}

pub(super) fn by_curves(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    bursts::terms_by_priority((tasks, i), &core.distances, &core.work(), effort)
}

fn beside_reloads(
    core: &Core,
    terms: impl FnOnce(&preemption_delay::PreemptionDelays, &Work, Interrupted) -> Option<Terms>,
) -> Option<Terms> {
    let work = core.work();
    let entries = |window| work.entries(window);
    terms(core.delays.as_ref()?, &work, Interrupted { withheld: &work, entries: &entries })
}

pub(super) fn with_reloads(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    beside_reloads(core, |delays, work, entries| {
        preemption_delay::terms_by_priority((tasks, i), delays, work.entry, entries, effort)
    })
}

pub(super) fn deadlines_with_reloads(core: &Core, tasks: &[Sporadic], i: usize, effort: &mut Effort) -> Option<Terms> {
    beside_reloads(core, |delays, work, entries| {
        preemption_delay::terms_by_deadline((tasks, i), delays, work.entry, entries, effort)
    })
}
