//! Random systems in which jobs wait in the middle of their work.

use crate::random::Random;
use crate::{sharing, Draw};
use tactus_model::{Migration, Policy, Scheduling, System, TaskOrder, TaskPlacement, Wait};
use tactus_time::Duration;

const ORDERS: [(Migration, TaskOrder); 6] = [
    (Migration::Partitioned, TaskOrder::FixedPriority),
    (Migration::Partitioned, TaskOrder::EarliestDeadline),
    (Migration::Global, TaskOrder::FixedPriority),
    (Migration::Global, TaskOrder::EarliestDeadline),
    (Migration::Partitioned, TaskOrder::RateMonotonic),
    (Migration::Partitioned, TaskOrder::FirstComeFirstServed),
];
/// The shortest wait drawn; less would be lost in the system's own work.
const SHORTEST_WAIT: Duration = Duration::from_micros(20);

/// The system of this seed. A third are systems that share resources, without preemption thresholds; the others are partitioned or
/// global, in one of six orders. Half of the tasks have jobs that wait up to three times, for up to a tenth of the period each, and
/// really for less.
pub fn waiting(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x7761_6974);
    let mut system = match seed % 3 {
        0 => beside_resources(sharing(seed / 3)),
        _ => plain(seed, &mut random),
    };
    system.name = format!("waiting-{seed}");
    wait(&mut random, &mut system);
    system
}

/// Has half of the tasks wait.
pub(crate) fn wait(random: &mut Random, system: &mut System) {
    let waits: Vec<Vec<Wait>> = (0..system.tasks.len()).map(|n| waits(random, system, n)).collect();
    system.scheduling.waits = waits;
}

/// The system without preemption thresholds, with which jobs do not wait.
pub(crate) fn beside_resources(mut system: System) -> System {
    system.scheduling.places.iter_mut().for_each(|place| place.threshold = None);
    system
}

fn plain(seed: u64, random: &mut Random) -> System {
    let (spread, order) = ORDERS[(seed / 3 % ORDERS.len() as u64) as usize];
    let cores = random.between(1, 4) as usize;
    let tasks = random.between(2, 6) as usize * cores;
    let policy = Policy::Ordered { spread, order };
    let utilisation = 0.2 + 0.5 * random.unit();
    let mut system = Draw { seed, policy, cores, tasks, utilisation, duration: Duration::from_secs(1) }.system();
    let place = |task: &tactus_model::Task| TaskPlacement {
        priority: 1_000 - (task.period.as_nanos() / 1_000_000) as u32,
        ..TaskPlacement::default()
    };
    let places = match order {
        TaskOrder::FixedPriority => system.tasks.iter().map(place).collect(),
        _ => vec![TaskPlacement::default(); system.tasks.len()],
    };
    system.scheduling = Scheduling { places, ..Scheduling::default() };
    system
}

/// Those of one task's jobs, none inside a section.
fn waits(random: &mut Random, system: &System, n: usize) -> Vec<Wait> {
    let task = &system.tasks[n];
    if random.chance(0.5) {
        return Vec::new();
    }
    let mut all: Vec<Wait> = Vec::new();
    for _ in 0..random.between(1, 3) {
        let after = part(random, task.budget(), 1.0);
        let length = part(random, task.period, 0.1).max(SHORTEST_WAIT);
        let actual = Some(part(random, length, 1.0).max(SHORTEST_WAIT));
        let sections = system.scheduling.sections_of(n);
        let inside = sections.iter().any(|it| it.after < after && after < it.end());
        let apart = all.iter().all(|other| other.after != after);
        if !after.is_zero() && after < task.budget() && length <= task.deadline && !inside && apart {
            all.push(Wait { after, length, actual });
        }
    }
    all.sort_by_key(|wait| wait.after);
    all
}

/// Up to such a part of a time, in whole microseconds.
fn part(random: &mut Random, of: Duration, most: f64) -> Duration {
    Duration::from_micros((of.as_nanos() as f64 * most * random.unit() / 1e3) as u64)
}
