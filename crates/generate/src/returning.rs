//! Random systems in which a job that waits comes back to a section that another one has begun meanwhile.

use crate::random::Random;
use crate::{plain, scaled, Draw};
use tactus_model::{
    Demand, Migration, Policy, Resource, ResourceProtocol, Scheduling, Section, System, TaskOrder, TaskPlacement, Wait,
};
use tactus_time::{CoreId, Duration};

const PROTOCOLS: [ResourceProtocol; 5] = [
    ResourceProtocol::NonPreemptive,
    ResourceProtocol::Ceiling,
    ResourceProtocol::Inheritance,
    ResourceProtocol::Msrp,
    ResourceProtocol::Fmlp,
];
const ORDERS: [TaskOrder; 4] =
    [TaskOrder::EarliestDeadline, TaskOrder::EarliestDeadline, TaskOrder::FixedPriority, TaskOrder::DeadlineMonotonic];

/// The system of this seed: one core by deadlines or by a number, and a protocol, all in turn. The first task or the first two wait between
/// sections, the next one or two have none and the shortest deadlines but theirs, the others hold what the first ones want, from their
/// beginning on.
pub fn returning(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x7265_7475);
    let protocol = PROTOCOLS[(seed % PROTOCOLS.len() as u64) as usize];
    let order = ORDERS[(seed / PROTOCOLS.len() as u64 % ORDERS.len() as u64) as usize];
    let policy = Policy::Ordered { spread: Migration::Partitioned, order };
    let (waiting, between, holding) = (random.between(1, 2), random.between(1, 2), random.between(1, 3));
    let count = (waiting + between + holding) as usize;
    let duration = Duration::from_secs(1);
    let mut system = Draw { seed, policy, cores: 1, tasks: count, utilisation: 0.3, duration }.system();
    system.name = format!("returning-{seed}");
    let resources = random.between(1, 2) as usize;
    let resource = |n| Resource { name: format!("r{n}"), protocol, withdrawn: false, line: 0 };
    let mut scheduling = Scheduling { resources: (0..resources).map(resource).collect(), ..Scheduling::default() };
    let load = random.log_uniform(0.05, 0.9) / count as f64;
    system.tasks.clear();
    for n in 0..count {
        let share = load * (0.5 + random.unit());
        let mut task = plain(&mut random, share);
        (task.name, task.core) = (format!("t{n}"), Some(CoreId(0)));
        let time = task.budget();
        let (mut sections, mut waits) = (Vec::new(), Vec::new());
        let holds = |random: &mut Random, after: Duration| Section {
            resource: random.below(resources as u64) as usize,
            after,
            length: scaled(time - after, 0.2 + 0.7 * random.unit()).min(time - after),
            actual: None,
        };
        if n < waiting as usize {
            // Most of its deadline it is away.
            task.deadline = scaled(task.period, 0.2 + 0.3 * random.unit()).max(time * 2).min(task.period);
            let after = scaled(time, 0.3 * random.unit()).min(time / 2);
            let length = scaled(task.deadline.saturating_sub(time), 0.1 + 0.6 * random.unit());
            waits.push(Wait { after, length, actual: None });
            sections.push(holds(&mut random, after));
        } else if n < (waiting + between) as usize {
            task.deadline = scaled(task.period, 0.3 + 0.7 * random.unit()).max(time).min(task.period);
        } else {
            task.deadline = task.period;
            sections.push(holds(&mut random, Duration::ZERO));
        }
        task.demand = Demand::Fixed(time);
        let priority = (2_000_000_000_u64.saturating_sub(task.deadline.as_nanos()) / 1_000) as u32;
        scheduling.places.push(TaskPlacement { priority, ..TaskPlacement::default() });
        scheduling.sections.push(sections);
        scheduling.waits.push(waits);
        system.tasks.push(task);
    }
    system.scheduling = scheduling;
    system
}
