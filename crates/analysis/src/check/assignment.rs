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
    /// These tasks share colours of memory, and fit on no core together beside those placed before them.
    Group(Vec<String>),
    /// These two share colours of memory, and the file binds them to two cores.
    Separated([String; 2]),
}

impl fmt::Display for Unassigned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unassigned::NotBound(policy) => write!(f, "{policy} binds no task to a core"),
            Unassigned::Servers => f.write_str("the system has servers, which bind their tasks to cores"),
            Unassigned::Unplaced(task) => {
                write!(f, "task `{task}` fits on no core beside those placed before it; try another fit or order")
            }
            Unassigned::Group(tasks) => {
                let names = tasks.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "tasks {names} share colours and fit on no core together; let them share less, or try another fit or order"
                )
            }
            Unassigned::Separated([one, other]) => {
                write!(
                    f,
                    "tasks `{one}` and `{other}` share colours, and the file binds them to two cores; bind both to one"
                )
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

/// Binds each task that its policy binds; cores in `given` are kept and placed first. By `TaskId`. Tasks whose colours of memory meet, where
/// the file names some for them, go to one core together (CAP; Gracioli 2014, section 7).
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
    let groups = groups(system, &bound);
    let sizes: Vec<u64> = groups.iter().map(|group| group.iter().map(size).sum()).collect();
    let mut kept: Vec<Option<usize>> = Vec::new();
    let name = |n: usize| system.tasks[n].name.clone();
    for group in &groups {
        let of = |n: &usize| Some((*n, given.get(*n).copied().flatten()?.index()));
        let mut given = group.iter().filter_map(of);
        let first = given.next();
        if let Some(((one, _), (other, _))) = first.and_then(|one| Some((one, given.find(|it| it.1 != one.1)?))) {
            return Err(Unassigned::Separated([name(one), name(other)]));
        }
        kept.push(first.map(|(_, core)| core));
    }
    let fits = |bin: &[usize]| {
        let tasks = || bin.iter().flat_map(|&i| groups[i].iter().copied());
        // Nothing that is asked for more than the whole core can pass; this spares most of the work.
        bin.iter().map(|&i| sizes[i]).sum::<u64>() <= 1_000_000 + tasks().count() as u64
            && super::check(&alone(system, tasks()), costs).accepted
    };
    let places = partitioned::place(&sizes, &kept, system.cores, fit, order, fits).map_err(|unplaced| match &groups
        [unplaced.0][..]
    {
        [one] => Unassigned::Unplaced(name(*one)),
        group => Unassigned::Group(group.iter().map(|n| name(*n)).collect()),
    })?;
    let mut cores = vec![None; system.tasks.len()];
    for (n, place) in groups.iter().zip(places).flat_map(|(group, place)| group.iter().map(move |n| (*n, place))) {
        cores[n] = u8::try_from(place).ok().map(CoreId);
    }
    Ok(cores)
}

/// The tasks that go to one core together, in the order of their first ones: those whose colours meet, transitively. What names no colours
/// shares them with everything else that names none, and says nothing by that.
fn groups(system: &System, bound: &[usize]) -> Vec<Vec<usize>> {
    let named = |n: usize| {
        let assigned = system.platform.colour_assignment.as_ref()?;
        assigned.tasks.get(n).copied().filter(|own| *own != assigned.rest)
    };
    let mut groups: Vec<(u64, Vec<usize>)> = Vec::new();
    for &n in bound {
        let own = named(n).unwrap_or(0);
        let (meeting, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(colours, _)| colours & own != 0);
        let mut all = meeting
            .into_iter()
            .fold((own, Vec::new()), |(colours, tasks), (more, members)| (colours | more, [tasks, members].concat()));
        all.1.push(n);
        all.1.sort_unstable();
        groups = others;
        groups.push(all);
    }
    groups.sort_by_key(|(_, tasks)| tasks.first().copied());
    groups.into_iter().map(|(_, tasks)| tasks).collect()
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
