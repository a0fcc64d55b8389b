//! Random systems in which time releases jobs late, jobs are due after the next one is released, and tasks have offsets.

use crate::random::Random;
use crate::released::in_full;
use crate::{partitions, scaled, sharing, tree, waiting, Draw};
use tactus_model::{Migration, Overrun, Policy, Release, Scheduling, System, TaskOrder, TaskPlacement, MAX_UNDER_WAY};
use tactus_time::Duration;

const ORDERS: [TaskOrder; 4] =
    [TaskOrder::FixedPriority, TaskOrder::EarliestDeadline, TaskOrder::DeadlineMonotonic, TaskOrder::RateMonotonic];
/// Periods (ms) of tasks whose schedules repeat soon.
const PERIODS: [u64; 7] = [10, 12, 15, 20, 30, 40, 60];

/// The system of this seed: in turn a tree of servers ([`tree`]), one that shares resources ([`sharing`]), one whose jobs wait ([`waiting`]), one
/// of partitions ([`partitions`]), and four partitioned ones whose schedules repeat soon. About a third of the tasks that time releases have
/// jitter of up to three periods, a third are due up to eight periods late, and a third have an offset. In every second one of those that
/// repeat soon none has jitter.
pub fn jittered(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x6a69_7474);
    let (base, own) = (seed / 8, seed % 8);
    let mut system = match own {
        0 => tree(base),
        1 => sharing(base),
        2 => waiting(base),
        3 => partitions(base),
        _ => repeating(base * 4 + own, &mut random),
    };
    system.name = format!("jittered-{seed}");
    system.policy = in_full(system.policy);
    system.scheduling.places.resize(system.tasks.len(), TaskPlacement::default());
    let jitters = own < 4 || own % 2 == 0;
    for n in 0..system.tasks.len() {
        alter(&mut random, &mut system, n, jitters);
    }
    system
}

/// Gives the task what it may have of jitter, a late deadline and an offset.
fn alter(random: &mut Random, system: &mut System, n: usize, jitters: bool) {
    let talks = system.services.iter().any(|it| it.server == n || it.clients.iter().any(|of| of.tasks.contains(&n)))
        || system.channels.iter().any(|it| it.source.task == n || it.destinations.iter().any(|of| of.task == n));
    let releases =
        system.scheduling.places.iter().any(|place| place.release.predecessor().is_some_and(|it| it.index() == n));
    // Offsets count from the start of a partition.
    let start = match system.partition_of(n) {
        Some(of) => system.scheduling.partitions.list[of].start(system.scheduling.partitions.frame),
        None => Duration::ZERO,
    };
    let (task, place) = (&mut system.tasks[n], &mut system.scheduling.places[n]);
    let may = [Overrun::Continue, Overrun::Kill].contains(&place.overrun);
    let [late, jitter, offset] = [(); 3].map(|()| random.chance(0.35));
    let us = |random: &mut Random, least: Duration, most: Duration| {
        Duration::from_micros(random.between(least.as_nanos() / 1_000, most.as_nanos() / 1_000))
    };
    if offset && place.release.is_timed() {
        task.offset = start + us(random, Duration::ZERO, task.period);
    }
    if jitters && jitter && may && !talks && !releases && place.release == Release::Periodic {
        // As often less than a period as more.
        let most = if random.chance(0.5) { task.period } else { task.period * 3 };
        place.release = Release::Jittered(us(random, Duration::from_micros(1), most));
    }
    if late && may && !talks {
        let jitter = place.release.jitter().map_or(0, |jitter| jitter.div_ceil(task.period));
        let most = if random.chance(0.5) { 2 } else { 8.min(MAX_UNDER_WAY - jitter) };
        task.deadline = us(random, task.period, task.period * most);
    }
}

/// Partitioned, on one to four cores with three to five tasks each, in one of four orders.
fn repeating(seed: u64, random: &mut Random) -> System {
    let order = ORDERS[(seed / 2 % 4) as usize];
    let cores = random.between(1, 4) as usize;
    let tasks = random.between(3, 5) as usize * cores;
    let policy = Policy::Ordered { spread: Migration::Partitioned, order };
    let utilisation = 0.3 + 0.6 * random.unit();
    let mut system = Draw { seed, policy, cores, tasks, utilisation, duration: Duration::from_secs(1) }.system();
    for task in &mut system.tasks {
        let before = task.period;
        let period = Duration::from_millis(*random.of(&PERIODS));
        let part = period.as_nanos() as f64 / before.as_nanos() as f64;
        let time = scaled(task.budget(), part).min(period);
        (task.period, task.deadline, task.offset) = (period, period, Duration::ZERO);
        task.execution = [Some(time); 4];
        task.demand = crate::demand(random, time);
    }
    let place = |task: &tactus_model::Task| {
        let priority = 1_000 - (task.period.as_nanos() / 1_000_000) as u32;
        TaskPlacement { priority: if order == TaskOrder::FixedPriority { priority } else { 0 }, ..Default::default() }
    };
    let places = system.tasks.iter().map(place).collect();
    system.scheduling = Scheduling { places, ..Scheduling::default() };
    system
}
