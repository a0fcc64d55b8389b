//! Random systems with servers of a bandwidth whose jobs take several budgets: a soft one has its next budget at once, and so runs ahead of what it
//! is promised.

use crate::random::Random;
use crate::{scaled, Draw};
use tactus_model::{Demand, Migration, Policy, Scheduling, Server, ServerKind, System, Task, TaskOrder, TaskPlacement};
use tactus_time::{CoreId, CoreSet, Duration};

const INSIDE: [TaskOrder; 4] = [
    TaskOrder::FirstComeFirstServed,
    TaskOrder::RateMonotonic,
    TaskOrder::EarliestDeadline,
    TaskOrder::DeadlineMonotonic,
];

/// The system of this seed: one core by deadlines, one or two soft servers with up to nine budgets in a job, and beside them tasks and servers
/// of all kinds that have a bound there. In every fourth one all lies in a server that is no soft one; every fifth has hard ones in their place.
pub fn soft(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x736f_6674);
    let policy = Policy::Ordered { spread: Migration::Partitioned, order: TaskOrder::EarliestDeadline };
    let duration = Duration::from_secs(1);
    let mut system = Draw { seed, policy, cores: 1, tasks: 3, utilisation: 0.3, duration }.system();
    system.name = format!("soft-{seed}");
    system.tasks.clear();
    system.scheduling = Scheduling::default();
    // What lies beside soft servers.
    let beside: Vec<ServerKind> =
        ServerKind::ALL.into_iter().filter(|kind| kind.has_time_budget() && !kind.is_soft()).collect();
    let around: Vec<ServerKind> = beside.iter().copied().filter(|kind| kind.has_sure_supply()).collect();
    let mut left = 0.6 + 0.38 * random.unit();
    let mut parent = None;
    if seed % 4 == 3 {
        let period = Duration::from_millis(random.between(2, 8));
        parent = Some(server(&mut system, None, (*random.of(&around), TaskOrder::EarliestDeadline), (left, period)));
        left *= 0.9;
    }
    for _ in 0..random.between(1, 2) {
        let (share, period) = (left * (0.15 + 0.4 * random.unit()), Duration::from_millis(random.between(3, 25)));
        left -= share;
        let kind = if seed % 5 == 4 { ServerKind::HardBandwidth } else { ServerKind::SoftBandwidth };
        let home = server(&mut system, parent, (kind, *random.of(&INSIDE)), (share, period));
        let tasks = random.between(1, 2);
        for _ in 0..tasks {
            let budgets = 0.5 + 8.5 * random.unit();
            let time = scaled(system.scheduling.servers[home].budget, budgets);
            let part = share / tasks as f64 * (0.4 + 0.55 * random.unit());
            task(&mut random, &mut system, Some(home), (time, scaled(time, 1.0 / part)));
        }
    }
    for _ in 0..random.between(1, 3) {
        let share = left * (0.2 + 0.5 * random.unit());
        left -= share;
        if random.chance(0.5) {
            let period = Duration::from_millis(random.between(5, 120));
            task(&mut random, &mut system, parent, (scaled(period, share), period));
            continue;
        }
        let (kind, order) = (*random.of(&beside), *random.of(&INSIDE));
        let period = match kind {
            ServerKind::PriorityInheriting => system.scheduling.servers[parent.map_or(0, |outer| outer + 1)].period,
            _ => Duration::from_millis(random.between(5, 60)),
        };
        let home = server(&mut system, parent, (kind, order), (share, period));
        let Server { budget, period, .. } = system.scheduling.servers[home].clone();
        let (time, every) = (scaled(budget, 0.3 + 1.2 * random.unit()), scaled(period, 2.0 + 4.0 * random.unit()));
        task(&mut random, &mut system, Some(home), (time, every));
    }
    system
}

fn server(
    system: &mut System,
    parent: Option<usize>,
    (kind, order): (ServerKind, TaskOrder),
    (share, period): (f64, Duration),
) -> usize {
    let place = system.scheduling.servers.len();
    system.scheduling.servers.push(Server {
        name: format!("s{place}"),
        parent,
        cores: CoreSet::first(1),
        kind,
        budget: scaled(period, share).max(Duration::from_micros(300)),
        period,
        write_backs: None,
        order,
        spread: Migration::Partitioned,
        clusters: Vec::new(),
        quantum: Duration::ZERO,
        priority: 0,
        background: false,
        line: 0,
    });
    place
}

fn task(random: &mut Random, system: &mut System, server: Option<usize>, (time, period): (Duration, Duration)) {
    let deadline = if random.chance(0.3) { scaled(period, 0.5 + 0.5 * random.unit()) } else { period };
    system.tasks.push(Task {
        name: format!("t{}", system.tasks.len()),
        level: None,
        core: Some(CoreId(0)),
        offset: scaled(period, random.unit()),
        period,
        deadline: deadline.max(time).min(period),
        execution: [Some(time.min(period)); 4],
        demand: Demand::Fixed(time.min(period)),
        minimum: None,
        memory: 0,
        body: tactus_model::Body::Workload,
        line: 0,
    });
    system.scheduling.places.push(TaskPlacement { server, ..TaskPlacement::default() });
}
