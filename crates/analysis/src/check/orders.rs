//! The tests of one queue on one processor, for each order: of a core by itself, or of what a supply gives.

use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::task::{Sporadic, Withheld};
use crate::terms::{Source, Terms};
use crate::uniprocessor::edf_demand::Demand;
use crate::uniprocessor::round_robin::Turn;
use crate::uniprocessor::{any_order, edf_demand, edf_response, fifo, fixed_priority, laxity, round_robin};
use tactus_model::{OrderBasis, TaskOrder};
use tactus_time::Duration;

/// What a test gives for each task, in the order given; `None` for no bound.
pub(super) type Responses = Vec<Option<Duration>>;

/// The tasks of a queue, the most urgent first where a task keeps its rank, and what serves them.
#[derive(Clone, Copy)]
pub(super) struct Queue<'q> {
    pub tasks: &'q [Sporadic],
    /// The length of a turn, or between two looks.
    pub quantum: Duration,
    /// What the completion of a job has added to its execution time, which the order does not know of.
    pub completion: Duration,
    /// As [`Rank::rivals`](super::rank::Rank::rivals) gives them.
    pub rivals: &'q [usize],
    /// What the system takes.
    pub work: &'q Work<'q>,
    /// What the tasks do not get of a window, what the system takes included.
    pub withheld: &'q dyn Withheld,
}

/// The responses by an order.
pub(super) fn by(order: TaskOrder, queue: Queue, effort: &mut Effort) -> Responses {
    match order.basis() {
        OrderBasis::Kept(_) => fixed(queue, effort),
        OrderBasis::Deadline => {
            let exact = deadlines(queue, &mut effort.clone());
            if exact.iter().all(Option::is_some) {
                return exact;
            }
            demand(queue, effort)
        }
        OrderBasis::Release => first_come(queue, effort),
        OrderBasis::Turns => turns(queue, effort),
        OrderBasis::PrioritiesWithTurns => turns_among_equals(queue, effort),
        OrderBasis::LaxityAtRelease => laxity_at_release(queue, effort),
        OrderBasis::Laxity => least_laxity(queue, effort),
    }
}

pub(super) fn fixed(Queue { tasks, work, withheld, .. }: Queue, effort: &mut Effort) -> Responses {
    let one = |i: usize| fixed_priority::response(&tasks[i], &tasks[..i], work.entry, withheld, effort);
    (0..tasks.len()).map(one).collect()
}

pub(super) fn deadlines(Queue { tasks, work, withheld, .. }: Queue, effort: &mut Effort) -> Responses {
    all_or_none(edf_response::responses(tasks, work.entry, withheld, effort), tasks)
}

/// Where every deadline is met, it is the bound.
pub(super) fn demand(queue: Queue, effort: &mut Effort) -> Responses {
    let fits = fits(queue, effort);
    queue.tasks.iter().map(|τ| fits.then_some(τ.deadline)).collect()
}

/// Whether every deadline is met.
pub(super) fn fits(Queue { tasks, work, withheld, .. }: Queue, effort: &mut Effort) -> bool {
    edf_demand::schedulable(tasks, work.entry, withheld, effort) == Demand::Fits
}

pub(super) fn fixed_terms(Queue { tasks, work, withheld, .. }: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    fixed_priority::terms(&tasks[i], &tasks[..i], work.entry, withheld, effort)
}

pub(super) fn deadlines_terms(
    Queue { tasks, work, withheld, .. }: Queue,
    i: usize,
    effort: &mut Effort,
) -> Option<Terms> {
    edf_response::terms(tasks, i, work.entry, withheld, effort)
}

pub(super) fn demand_terms(Queue { tasks, work, withheld, .. }: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    edf_demand::terms(tasks, i, work.entry, withheld, effort)
}

/// Those of the order's own equation or of the busy period, whichever gives the bound.
fn lesser(one: Option<Terms>, other: Option<Terms>) -> Option<Terms> {
    [one, other].into_iter().flatten().min_by_key(Terms::sum)
}

fn busy_terms(Queue { tasks, work, withheld, .. }: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    any_order::terms(tasks, i, work.entry, withheld, effort)
}

pub(super) fn first_come_terms(queue: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    let Queue { tasks, work, withheld, .. } = queue;
    let own = fifo::terms(tasks, i, work.entry, withheld, &mut effort.clone());
    lesser(own, busy_terms(queue, i, effort))
}

/// Of turns, the equation's own terms are not told.
pub(super) fn turns_terms(queue: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    busy_terms(queue, i, effort)
}

pub(super) fn turns_among_equals_terms(queue: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    let Queue { tasks, work, withheld, .. } = queue;
    let places = rivals_of(queue, i);
    let others: Vec<Sporadic> = places.iter().map(|other| tasks[*other]).collect();
    let mut terms = fixed_priority::terms(&tasks[i], &others, work.entry, withheld, effort)?;
    terms.renumber(|j| Source::Other(places[j]));
    Some(terms)
}

pub(super) fn laxity_at_release_terms(queue: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    let Queue { tasks, work, withheld, .. } = queue;
    let own = laxity::terms_at_release(tasks, i, &assumed(queue), work.entry, withheld, &mut effort.clone());
    lesser(own, busy_terms(queue, i, effort))
}

pub(super) fn least_laxity_terms(queue: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    let Queue { tasks, work, withheld, .. } = queue;
    let own = laxity::terms_looked_at_again(tasks, i, &assumed(queue), work.entry, withheld, &mut effort.clone());
    lesser(own, busy_terms(queue, i, effort))
}

/// The terms of a response by an order: that of [`by`].
pub(super) fn terms_by(order: TaskOrder, queue: Queue, i: usize, effort: &mut Effort) -> Option<Terms> {
    match order.basis() {
        OrderBasis::Kept(_) => fixed_terms(queue, i, effort),
        OrderBasis::Deadline => {
            let exact = deadlines(queue, &mut effort.clone()).iter().all(Option::is_some);
            if exact {
                deadlines_terms(queue, i, effort)
            } else {
                demand_terms(queue, i, effort)
            }
        }
        OrderBasis::Release => first_come_terms(queue, i, effort),
        OrderBasis::Turns => turns_terms(queue, i, effort),
        OrderBasis::PrioritiesWithTurns => turns_among_equals_terms(queue, i, effort),
        OrderBasis::LaxityAtRelease => laxity_at_release_terms(queue, i, effort),
        OrderBasis::Laxity => least_laxity_terms(queue, i, effort),
    }
}

pub(super) fn first_come(queue: Queue, effort: &mut Effort) -> Responses {
    let Queue { tasks, work, withheld, .. } = queue;
    let own = fifo::response(tasks, work.entry, withheld, &mut effort.clone());
    within_busy_period(vec![own; tasks.len()], queue, effort)
}

pub(super) fn turns(queue: Queue, effort: &mut Effort) -> Responses {
    let Queue { tasks, work, withheld, quantum, .. } = queue;
    let turn = Turn { quantum, longest: quantum + work.entry };
    let own = round_robin::responses(tasks, turn, work.entry, work, withheld, &mut effort.clone());
    within_busy_period(own, queue, effort)
}

/// Whoever of equal ones goes first, a job ends when there was time for all that it and they and more urgent ones ask for.
pub(super) fn turns_among_equals(queue: Queue, effort: &mut Effort) -> Responses {
    let Queue { tasks, work, withheld, .. } = queue;
    let others = |i: usize| -> Vec<Sporadic> { rivals_of(queue, i).into_iter().map(|other| tasks[other]).collect() };
    let one = |i: usize| fixed_priority::response(&tasks[i], &others(i), work.entry, withheld, effort);
    (0..tasks.len()).map(one).collect()
}

/// The places of those that are before the i-th task or take turns with it.
fn rivals_of(Queue { rivals, .. }: Queue, i: usize) -> Vec<usize> {
    (0..rivals[i]).filter(|other| *other != i).collect()
}

pub(super) fn laxity_at_release(queue: Queue, effort: &mut Effort) -> Responses {
    let Queue { tasks, work, withheld, .. } = queue;
    let own = laxity::at_release(tasks, &assumed(queue), work.entry, withheld, &mut effort.clone());
    within_busy_period(all_or_none(own, tasks), queue, effort)
}

pub(super) fn least_laxity(queue: Queue, effort: &mut Effort) -> Responses {
    let Queue { tasks, work, withheld, .. } = queue;
    let own = laxity::looked_at_again(tasks, &assumed(queue), work.entry, withheld, &mut effort.clone());
    within_busy_period(all_or_none(own, tasks), queue, effort)
}

/// What the order takes for execution times.
fn assumed(Queue { tasks, completion, .. }: Queue) -> Vec<Duration> {
    tasks.iter().map(|τ| τ.execution.saturating_sub(completion)).collect()
}

fn all_or_none(responses: Option<Vec<Duration>>, tasks: &[Sporadic]) -> Responses {
    match responses {
        Some(all) => all.into_iter().map(Some).collect(),
        None => vec![None; tasks.len()],
    }
}

/// Whatever the order, a job ends within its busy period.
fn within_busy_period(own: Responses, Queue { tasks, work, withheld, .. }: Queue, effort: &mut Effort) -> Responses {
    let busy = any_order::response(tasks, work.entry, withheld, effort);
    own.into_iter().map(|response| [response, busy].into_iter().flatten().min()).collect()
}

/// What explains a bound of an order in which urgencies change, inside a supply.
pub(super) const fn explanation(order: TaskOrder) -> &'static str {
    match order.basis() {
        OrderBasis::Kept(_) => "response-time analysis",
        OrderBasis::Deadline => "EDF response times (Spuri)",
        OrderBasis::Release => "FIFO (George and Minet)",
        OrderBasis::Turns => "turns (Racu et al.) within the busy period",
        OrderBasis::PrioritiesWithTurns => "response-time analysis in which equal priorities interfere",
        OrderBasis::LaxityAtRelease => "EDF with laxities for deadlines (Spuri)",
        OrderBasis::Laxity => "priority points (Leontyev and Anderson) within the busy period",
    }
}
