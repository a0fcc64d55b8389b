//! Which core each task is bound to, so that every core passes the exact test of its policy.

use super::{Fit, Order};
use crate::effort::Effort;
use crate::task::{Dedicated, Sporadic};
use crate::uniprocessor::edf_demand::{schedulable, Demand};
use crate::uniprocessor::fixed_priority;
use crate::utilisation::Utilisation;
use tactus_time::Duration;

/// What schedules a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Local {
    /// Earliest deadline first: processor demand.
    Edf,
    /// Fixed priorities, the shorter deadline the more urgent: response times.
    DeadlineMonotonic,
}

/// The task that fits on no core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unplaced(pub usize);

/// Whether the tasks meet all deadlines on one core; false too where the effort did not do.
pub fn fits(tasks: &[Sporadic], local: Local, effort: &mut Effort) -> bool {
    match local {
        Local::Edf => schedulable(tasks, Duration::ZERO, &Dedicated, effort) == Demand::Fits,
        Local::DeadlineMonotonic => {
            let mut order: Vec<Sporadic> = tasks.to_vec();
            order.sort_by_key(|τ| τ.deadline);
            (0..order.len()).all(|k| {
                let τ = &order[k];
                fixed_priority::response(τ, &order[..k], Duration::ZERO, &Dedicated, effort)
                    .is_some_and(|r| r <= τ.deadline)
            })
        }
    }
}

/// Binds every task to a core. `given[i]`, where it says a core, is kept; such tasks are placed first.
///
/// # Errors
/// The first task that fits nowhere. (Another heuristic may still find a place.)
pub fn assign(
    tasks: &[Sporadic],
    given: &[Option<usize>],
    cores: usize,
    local: Local,
    fit: Fit,
    order: Order,
) -> Result<Vec<usize>, Unplaced> {
    let size = |τ: &Sporadic| Utilisation::of([(τ.execution, τ.period)]).millionths();
    let sizes: Vec<u64> = tasks.iter().map(size).collect();
    place(&sizes, given, cores, fit, order, |bin| {
        let bin: Vec<Sporadic> = bin.iter().map(|&i| tasks[i]).collect();
        fits(&bin, local, &mut Effort::default())
    })
}

/// The same for things of these sizes, where `fits` says whether those of these places go together on a core.
///
/// # Errors
/// As for [`assign`].
pub fn place(
    sizes: &[u64],
    given: &[Option<usize>],
    cores: usize,
    fit: Fit,
    order: Order,
    mut fits: impl FnMut(&[usize]) -> bool,
) -> Result<Vec<usize>, Unplaced> {
    let mut bins: Vec<Vec<usize>> = vec![Vec::new(); cores];
    let mut free = Vec::new();
    for i in 0..sizes.len() {
        match given.get(i).copied().flatten() {
            Some(core) if core < cores => bins[core].push(i),
            _ => free.push(i),
        }
    }
    if let Some(full) = bins.iter().find(|bin| !bin.is_empty() && !fits(bin)) {
        return Err(Unplaced(full.last().copied().unwrap_or(0)));
    }
    match order {
        Order::Given => {}
        Order::Decreasing => free.sort_by_key(|&i| std::cmp::Reverse(sizes[i])),
        Order::Increasing => free.sort_by_key(|&i| sizes[i]),
    }
    let mut open = 0;
    for i in free {
        let load = |bin: usize| bins[bin].iter().map(|&i| sizes[i]).sum::<u64>();
        let mut candidates: Vec<usize> = (0..cores).collect();
        match fit {
            Fit::Next => candidates.retain(|&bin| bin >= open),
            Fit::First => {}
            Fit::Best => candidates.sort_by_key(|&bin| std::cmp::Reverse(load(bin))),
            Fit::Worst => candidates.sort_by_key(|&bin| load(bin)),
        }
        let mut found = None;
        for bin in candidates {
            bins[bin].push(i);
            if fits(&bins[bin]) {
                found = Some(bin);
                break;
            }
            bins[bin].pop();
        }
        open = found.ok_or(Unplaced(i))?;
    }
    let mut place = vec![0; sizes.len()];
    for (core, bin) in bins.iter().enumerate() {
        bin.iter().for_each(|&i| place[i] = core);
    }
    Ok(place)
}
