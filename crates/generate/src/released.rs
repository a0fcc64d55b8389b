//! Random systems in which tasks release others.

use crate::random::Random;
use crate::trees::tree;
use tactus_model::{Chain, EarlyArrival, Migration, Overrun, Policy, Release, System, TaskOrder, TaskPlacement};
use tactus_time::{Duration, TaskId};

/// The tree of this seed ([`tree`]), in which about half of all tasks are released by completions of others that have their
/// core and are not more frequent. Nothing if there are no such tasks.
pub fn released(seed: u64) -> Option<System> {
    let mut random = Random::new(seed ^ 0x6166_7465);
    let mut system = tree(seed);
    let some = release_each_other(&mut random, &mut system);
    system.name = format!("released-{seed}");
    some.then_some(system)
}

/// Has about half of all tasks released by completions of others that have their core and are not more frequent. False, and nothing
/// else, if there are no such tasks.
pub(crate) fn release_each_other(random: &mut Random, system: &mut System) -> bool {
    if system.scheduling.places.is_empty() {
        system.scheduling.places = vec![TaskPlacement::default(); system.tasks.len()];
    }
    let mut some = false;
    for n in 1..system.tasks.len() {
        let own = &system.tasks[n];
        let fits = |other: usize| system.tasks[other].core == own.core && system.tasks[other].period >= own.period;
        let before: Vec<usize> = (0..n).filter(|other| fits(*other)).collect();
        let place = &mut system.scheduling.places[n];
        if before.is_empty() || place.overrun == Overrun::Stop || random.chance(0.5) {
            continue;
        }
        let before = before[random.between(0, before.len() as u64 - 1) as usize];
        let early = if random.chance(0.2) { EarlyArrival::Drop } else { EarlyArrival::Delay };
        place.release = Release::After(TaskId(before as u16), early);
        system.tasks[n].offset = Duration::ZERO;
        some = true;
    }
    system.policy = in_full(system.policy);
    system.chains = chains(system);
    some
}

/// The policy as it is told where tasks have more to say than it knows.
pub(crate) fn in_full(policy: Policy) -> Policy {
    let (spread, order) = match policy {
        Policy::PartitionedRm => (Migration::Partitioned, TaskOrder::RateMonotonic),
        Policy::PartitionedEdf => (Migration::Partitioned, TaskOrder::EarliestDeadline),
        Policy::GlobalRm => (Migration::Global, TaskOrder::RateMonotonic),
        Policy::GlobalEdf => (Migration::Global, TaskOrder::EarliestDeadline),
        other => return other,
    };
    Policy::Ordered { spread, order }
}

/// The way to each task that releases no other, as far as no job of it can be without a successor.
fn chains(system: &System) -> Vec<Chain> {
    let place = |n: usize| system.scheduling.places[n];
    let last =
        |n: &usize| (0..system.tasks.len()).all(|other| place(other).release.predecessor() != Some(TaskId(*n as u16)));
    let way = |n: usize| {
        let before = |n: &usize| match place(*n).release {
            Release::After(before, EarlyArrival::Delay) => Some(before.index()),
            _ => None,
        };
        let mut way: Vec<usize> = std::iter::successors(Some(n), before).collect();
        way.reverse();
        way
    };
    let chain = |n: usize| {
        let tasks = way(n);
        let lasting = tasks.len() > 1 && tasks.iter().all(|n| place(*n).overrun == Overrun::Continue);
        let deadline = tasks.iter().fold(Duration::ZERO, |sum, n| sum + system.tasks[*n].deadline);
        lasting.then(|| Chain { name: format!("to {}", system.tasks[n].name), tasks, deadline, line: 0 })
    };
    (0..system.tasks.len()).filter(last).filter_map(chain).collect()
}
