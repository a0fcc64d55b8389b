//! Which core each task of a system is bound to, so that every core passes the check of its policy, costs included.
//!
//! A core is judged by the check itself, on a system with nothing but that core's tasks. Under MC² that covers levels A and
//! B; level C runs everywhere and is judged only when the whole system is checked, as is everything else that cores do to
//! each other.

use crate::partitioned::{self, Fit, Order};
use crate::utilisation::Utilisation;
use std::fmt;
use tactus_model::{policy_label, Costs, Migration, Policy, System};
use tactus_time::{CoreId, Level};

/// Why there is no assignment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unassigned {
    /// The policy binds no task to a core.
    NotBound(String),
    /// Tasks in servers are bound with their servers.
    Servers,
    /// This task fits on no core beside those placed before it.
    Unplaced(String),
}

impl fmt::Display for Unassigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unassigned::NotBound(policy) => write!(f, "{policy} binds no task to a core"),
            Unassigned::Servers => f.write_str("the system has servers, which bind their tasks to cores"),
            Unassigned::Unplaced(task) => {
                write!(f, "task `{task}` fits on no core beside those placed before it; try another fit or order")
            }
        }
    }
}

impl std::error::Error for Unassigned {}

/// Whether the policy binds a task of that level to a core.
pub fn is_bound(policy: &Policy, level: Option<Level>) -> bool {
    match policy {
        Policy::PartitionedRm | Policy::PartitionedEdf | Policy::Mixed(_) | Policy::Partitions => true,
        Policy::Ordered { spread, .. } => *spread == Migration::Partitioned,
        Policy::Mc2 { .. } => level.is_some_and(|level| level <= Level::B),
        Policy::GlobalRm | Policy::GlobalEdf => false,
    }
}

/// Binds each task that its policy binds; cores in `given` are kept and placed first. By `TaskId`.
///
/// # Errors
/// Where the system binds no tasks, or the heuristic finds no place for one; another may still find it.
pub fn assignment(
    system: &System,
    costs: &Costs,
    given: &[Option<CoreId>],
    fit: Fit,
    order: Order,
) -> Result<Vec<Option<CoreId>>, Unassigned> {
    if !system.scheduling.servers.is_empty() {
        return Err(Unassigned::Servers);
    }
    let bound: Vec<usize> =
        (0..system.tasks.len()).filter(|&n| is_bound(&system.policy, system.tasks[n].level)).collect();
    if bound.is_empty() {
        return Err(Unassigned::NotBound(policy_label(&system.policy).to_string()));
    }
    let size = |&n: &usize| {
        let task = &system.tasks[n];
        Utilisation::of([(super::assumed::assumed(task, task.level.unwrap_or(Level::A)), task.period)]).millionths()
    };
    let sizes: Vec<u64> = bound.iter().map(size).collect();
    let kept: Vec<Option<usize>> =
        bound.iter().map(|&n| given.get(n).copied().flatten().map(|core| core.index())).collect();
    let fits = |bin: &[usize]| {
        // Nothing that is asked for more than the whole core can pass; this spares most of the work.
        bin.iter().map(|&i| sizes[i]).sum::<u64>() <= 1_000_000 + bin.len() as u64
            && super::check(&alone(system, bin.iter().map(|&i| bound[i])), costs).accepted
    };
    let places = partitioned::place(&sizes, &kept, system.cores, fit, order, fits)
        .map_err(|partitioned::Unplaced(i)| Unassigned::Unplaced(system.tasks[bound[i]].name.clone()))?;
    let mut cores = vec![None; system.tasks.len()];
    for (n, place) in bound.into_iter().zip(places) {
        cores[n] = u8::try_from(place).ok().map(CoreId);
    }
    Ok(cores)
}

/// The system with these tasks alone, in the order of the file, all on core 0.
fn alone(system: &System, places: impl Iterator<Item = usize>) -> System {
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    let mut small = System { tasks: Vec::with_capacity(places.len()), ..system.clone() };
    for &n in &places {
        let mut task = system.tasks[n].clone();
        task.core = Some(CoreId(0));
        small.tasks.push(task);
    }
    if !system.scheduling.places.is_empty() {
        small.scheduling.places = places.iter().map(|&n| system.scheduling.places[n]).collect();
    }
    small
}
