//! A scheduler of a tree that goes by fixed priorities: response times of its children under its supply.

use super::{as_task, demand, Demand, Found, Node, Scheduler, Untested, Within};
use crate::effort::Effort;
use crate::reservation::charge::Work;
use crate::reservation::local::fits_share;
use crate::reservation::supply::Supply;
use crate::task::Sporadic;
use crate::terms::Terms;
use crate::uniprocessor::fixed_priority;
use tactus_time::Duration;

pub(super) fn responses(scheduler: &Scheduler, supply: &dyn Supply, work: &Work, effort: &mut Effort) -> Vec<Found> {
    (0..scheduler.children.len()).map(|i| response(scheduler, i, supply, work, effort)).collect()
}

/// Whether a server's budget does not bound what it takes.
fn unbounded(node: &Node) -> bool {
    matches!(demand(node), Some(Demand::Soft | Demand::Reclaiming | Demand::Misses | Demand::Unknown))
}

/// The terms of the response of the i-th child, by the places of others among the children.
pub(super) fn terms(
    scheduler: &Scheduler,
    i: usize,
    supply: &dyn Supply,
    work: &Work,
    effort: &mut Effort,
) -> Option<Terms> {
    let set = set(scheduler, i, work);
    fixed_priority::terms(&set[i], &set[..i], work.entry, &Within { supply, work }, effort)
}

/// A child and those above it, as its test takes them.
fn set(scheduler: &Scheduler, i: usize, work: &Work) -> Vec<Sporadic> {
    let (higher, own) = (&scheduler.children[..i], &scheduler.children[i]);
    let mut set: Vec<Sporadic> = higher.iter().map(|node| as_peer(node, work)).collect();
    set.push(match own {
        Node::Task(_) => as_task(own, work),
        // A server's jitter is how others see it, not a delay of its own; what it overruns is not waited for.
        Node::Server(s, _) => Sporadic::new(s.budget, s.period, s.deadline),
    });
    set
}

fn response(scheduler: &Scheduler, i: usize, supply: &dyn Supply, work: &Work, effort: &mut Effort) -> Found {
    let (higher, own) = (&scheduler.children[..i], &scheduler.children[i]);
    if let Some(peer) = higher.iter().position(unbounded) {
        return Found::untested(own, Untested::Peer(peer));
    }
    // Whatever a budget of misses lets a server take, it lasts for the time in which memory serves it at least.
    if unbounded(own) && demand(own) != Some(Demand::Misses) {
        return Found::untested(own, Untested::Itself);
    }
    let set = set(scheduler, i, work);
    if !fits_share(&set, supply) {
        return Found::new(own, None);
    }
    Found::new(own, fixed_priority::response(&set[i], &set[..i], work.entry, &Within { supply, work }, effort))
}

/// What a more urgent child may take of any window.
fn as_peer(node: &Node, work: &Work) -> Sporadic {
    let mut τ = as_task(node, work);
    if let Node::Server(s, _) = node {
        τ.jitter = match demand(node) {
            Some(Demand::Hard) => s.period,
            Some(Demand::Deferrable | Demand::Inheriting) => s.period.saturating_sub(s.budget),
            _ => Duration::ZERO,
        };
    }
    τ
}
