//! Random systems in which jobs share resources and keep their core from others.

use crate::random::Random;
use crate::Draw;
use std::ops::RangeInclusive;
use tactus_model::{
    Migration, Policy, Resource, ResourceProtocol, Scheduling, Section, System, TaskOrder, TaskPlacement,
};
use tactus_time::Duration;

const ORDERS: [TaskOrder; 4] =
    [TaskOrder::FixedPriority, TaskOrder::RateMonotonic, TaskOrder::DeadlineMonotonic, TaskOrder::EarliestDeadline];
/// The shortest section drawn; less would be lost in the system's own work.
const SHORTEST_SECTION: Duration = Duration::from_micros(20);

/// The system of this seed: partitioned, on 1 to 4 cores, orders in turn; on each core up to three resources, which on a third of the
/// cores are waited for by inheritance, and on the others have ceilings or are held without preemption; on these two resources of
/// all cores as well, by MSRP and FMLP. Up to three sections in a job, some with another inside. Under fixed priorities a third of the
/// tasks beside ceilings have preemption thresholds, and shorter periods have larger priorities.
pub fn sharing(seed: u64) -> System {
    sharing_on(seed, 1..=4, (0.3, 0.6))
}

/// The same on as many cores as one of these, each with at least the first utilisation and at most the second more.
pub(crate) fn sharing_on(seed: u64, cores: RangeInclusive<u64>, (least, more): (f64, f64)) -> System {
    let mut random = Random::new(seed ^ 0x6c6f_636b);
    let order = ORDERS[(seed % ORDERS.len() as u64) as usize];
    let cores = random.between(*cores.start(), *cores.end()) as usize;
    let tasks = random.between(3, 8) as usize * cores;
    let policy = Policy::Ordered { spread: Migration::Partitioned, order };
    let utilisation = least + more * random.unit();
    let mut system = Draw { seed, policy, cores, tasks, utilisation, duration: Duration::from_secs(1) }.system();
    system.name = format!("sharing-{seed}");
    let by_priority = order == TaskOrder::FixedPriority;
    let inherits: Vec<bool> = (0..cores).map(|_| random.chance(0.33)).collect();
    let core_of = |task: &tactus_model::Task| task.core.unwrap_or_default().index();
    let place = |task: &tactus_model::Task, random: &mut Random| {
        let priority = 1_000 - (task.period.as_nanos() / 1_000_000) as u32;
        let threshold = random.chance(0.33).then(|| random.between(priority.into(), 1_000) as u32);
        let threshold = threshold.filter(|_| !inherits[core_of(task)]);
        match by_priority {
            true => TaskPlacement { priority, threshold, ..TaskPlacement::default() },
            false => TaskPlacement::default(),
        }
    };
    let places = system.tasks.iter().map(|task| place(task, &mut random)).collect();
    // Resource r belongs to core r % cores, but for the last two, which are of all cores.
    let count = random.between(1, 3) as usize * cores;
    let resource = |n: usize, random: &mut Random| {
        let protocol = match n.checked_sub(count) {
            Some(0) => ResourceProtocol::Msrp,
            Some(_) => ResourceProtocol::Fmlp,
            None if inherits[n % cores] => ResourceProtocol::Inheritance,
            None if random.chance(0.25) => ResourceProtocol::NonPreemptive,
            None => ResourceProtocol::Ceiling,
        };
        Resource { name: format!("r{n}"), protocol, withdrawn: false, line: 0 }
    };
    let resources = (0..count + 2).map(|n| resource(n, &mut random)).collect();
    let of_core = |core: usize| (0..count).filter(|r| r % cores == core).collect::<Vec<_>>();
    let shared = [count, count + 1];
    let sections = system.tasks.iter().map(|task| {
        let (own, of_all) = (of_core(core_of(task)), if inherits[core_of(task)] { &[][..] } else { &shared });
        sections(&mut random, task.budget(), (&own, of_all))
    });
    let sections = sections.collect();
    system.scheduling = Scheduling { places, resources, sections, ..Scheduling::default() };
    system
}

/// Sections of a job that executes this long, one after the other; one inside another is of a later resource.
fn sections(random: &mut Random, time: Duration, (resources, shared): (&[usize], &[usize])) -> Vec<Section> {
    let mut all = Vec::new();
    let mut at = Duration::ZERO;
    for _ in 0..random.between(0, 3) {
        let after = at + part(random, time, 0.2);
        let length = part(random, time, 0.3).max(SHORTEST_SECTION);
        at = after + length;
        if at > time {
            break;
        }
        if !shared.is_empty() && random.chance(0.3) {
            let resource = shared[random.between(0, shared.len() as u64 - 1) as usize];
            all.push(Section { resource, after, length, actual: None });
            continue;
        }
        let place = random.between(0, resources.len() as u64 - 1) as usize;
        all.push(Section { resource: resources[place], after, length, actual: None });
        let (gap, inner) = (part(random, length, 0.4).max(Duration::from_micros(2)), part(random, length, 0.4));
        if place + 1 < resources.len() && inner >= SHORTEST_SECTION && random.chance(0.4) {
            all.push(Section { resource: resources[place + 1], after: after + gap, length: inner, actual: None });
        }
    }
    all
}

/// Up to such a part of a time, in whole microseconds.
fn part(random: &mut Random, of: Duration, most: f64) -> Duration {
    Duration::from_micros((of.as_nanos() as f64 * most * random.unit() / 1e3) as u64)
}
