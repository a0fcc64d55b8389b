//! Random systems with any order of tasks, spread over cores in any way, overruns, and servers up to three deep.
//!
//! Loads are drawn so that most systems have both idle time and servers that use up their budgets. What servers inside
//! a server are promised never exceeds what that server has, as the rules of a system file require.

use super::random::Random;
use super::{plain, scaled, Draw};
use std::path::PathBuf;
use tactus_model::{
    Demand, Machine, Migration, Overrun, Policy, Scheduling, Server, ServerKind, System, Task, TaskOrder, TaskPlacement,
};
use tactus_time::{CoreSet, Duration};

/// The most servers from the root down to a task.
pub const DEEPEST: usize = 3;

/// Servers with a budget of time; sporadic ones twice, since their rules have the most cases.
pub(crate) fn timed() -> impl Iterator<Item = ServerKind> {
    let times = |kind| if kind == ServerKind::Sporadic { 2 } else { 1 };
    let timed = ServerKind::ALL.into_iter().filter(|kind| kind.has_time_budget());
    timed.flat_map(move |kind| std::iter::repeat_n(kind, times(kind)))
}

const SPREADS: [Migration; 3] = [Migration::Partitioned, Migration::Clustered, Migration::Global];

/// A place in which tasks or servers can be: the root or a server.
struct Home {
    server: Option<usize>,
    cores: CoreSet,
    order: TaskOrder,
    spread: Migration,
    clusters: Vec<CoreSet>,
    /// Of each core, what is not promised to servers inside.
    share: f64,
}

/// What is being drawn.
struct Drawing {
    random: Random,
    servers: Vec<Server>,
    homes: Vec<Home>,
    tasks: Vec<Task>,
    places: Vec<TaskPlacement>,
}

/// The system of this seed: an order and a spread in turn, so that 54 seeds in a row have all of them, in the root and,
/// where that is for servers, in the first of these.
pub fn tree(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x7472_6565);
    let draw = Draw::from_seed(seed);
    let order = match TaskOrder::ALL[(seed % 9) as usize] {
        // Every other time that it is for turns, those are among equal priorities.
        TaskOrder::RoundRobin if seed / 27 % 2 == 1 => TaskOrder::FixedPriorityRoundRobin,
        // And every other time that it is for the shortest, it is for the least slack.
        TaskOrder::ShortestJob if seed / 27 % 2 == 1 => TaskOrder::SlackMonotonic,
        order => order,
    };
    let spread = SPREADS[(seed / 9 % 3) as usize];
    let deepest = random.between(0, DEEPEST as u64) as usize;
    let all = CoreSet::first(draw.cores);
    let mut it = Drawing { random, servers: Vec::new(), homes: Vec::new(), tasks: Vec::new(), places: Vec::new() };
    let (outer, outermost) = match deepest {
        0 => (order, spread),
        // What the seed is for is in a server then.
        _ => (it.for_servers(), Migration::Partitioned),
    };
    let clusters = it.clusters(outermost, all);
    let quantum = it.quantum(outer);
    let root = Home { server: None, cores: all, order: outer, spread: outermost, clusters, share: 1.0 };
    let root_clusters = root.clusters.clone();
    it.fill(root, deepest, Some((order, spread)), draw.utilisation);
    let Drawing { servers, mut tasks, mut places, .. } = it;
    tasks.iter_mut().enumerate().for_each(|(n, task)| task.name = format!("t{n}"));
    if places.iter().all(|place| *place == TaskPlacement::default()) {
        places.clear();
    }
    let plain = servers.is_empty() && places.is_empty();
    let policy = match (outermost, outer) {
        (Migration::Partitioned, TaskOrder::RateMonotonic) if plain => Policy::PartitionedRm,
        (Migration::Partitioned, TaskOrder::EarliestDeadline) if plain => Policy::PartitionedEdf,
        (Migration::Global, TaskOrder::RateMonotonic) if plain => Policy::GlobalRm,
        (Migration::Global, TaskOrder::EarliestDeadline) if plain => Policy::GlobalEdf,
        (spread, order) => Policy::Ordered { spread, order },
    };
    let name = format!("tree-{seed}");
    System {
        source: PathBuf::from(format!("{name}.toml")),
        name,
        cores: draw.cores,
        memory: 256 << 20,
        duration: draw.duration,
        seed,
        policy,
        chains: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        services: Vec::new(),
        slots: Vec::new(),
        loads: Vec::new(),
        machine: Machine { shift: 3, processor: Default::default(), overheads: true, beside: 0 },
        tasks,
        components: Vec::new(),
        scheduling: Scheduling { quantum, clusters: root_clusters, servers, places, ..Scheduling::default() },
        platform: tactus_model::Platform::default(),
        disks: Vec::new(),
        monitors: Vec::new(),
        linux: Vec::new(),
        notes: Vec::new(),
    }
}

impl Drawing {
    /// An order that servers know.
    fn for_servers(&mut self) -> TaskOrder {
        TaskOrder::ALL[self.random.between(0, 3) as usize]
    }

    fn quantum(&mut self, order: TaskOrder) -> Duration {
        match order.has_quantum() {
            true => Duration::from_millis(self.random.between(1, 4)),
            false => Duration::ZERO,
        }
    }

    /// Parts the cores, where the spread is clustered.
    fn clusters(&mut self, spread: Migration, cores: CoreSet) -> Vec<CoreSet> {
        if spread != Migration::Clustered {
            return Vec::new();
        }
        let count = self.random.between(1, cores.iter().count() as u64) as usize;
        let mut clusters = vec![CoreSet::EMPTY; count];
        for core in cores.iter() {
            clusters[self.random.between(0, count as u64 - 1) as usize].insert(core);
        }
        clusters.retain(|cluster| !cluster.is_empty());
        clusters
    }

    /// Draws servers into a place and, last, tasks beside them. `wanted` is for the first server that has none inside.
    fn fill(&mut self, mut home: Home, deeper: usize, mut wanted: Option<(TaskOrder, Migration)>, load: f64) {
        let (mut promised, mut made) = ([0.0; 8], false);
        let inside = if deeper > 0 { self.random.between(1, 3) } else { 0 };
        for n in 0..inside {
            let cores = self.some_of(home.cores);
            // The first goes down to the depth that was drawn.
            let deeper = if n == 0 { deeper - 1 } else { self.random.between(0, deeper as u64 - 1) as usize };
            let left = cores.iter().map(|core| home.share - promised[core.index()]).fold(home.share, f64::min);
            let share = left * (0.25 + 0.45 * self.random.unit());
            let (kind, period) = self.kind_and_period();
            let budget = Duration::from_micros((share * period.as_nanos() as f64 / 1e3) as u64);
            if budget < Duration::from_micros(300) {
                continue;
            }
            let (order, spread) = match deeper {
                0 => wanted.take().unwrap_or_else(|| self.order_and_spread()),
                _ => (self.for_servers(), Migration::Partitioned),
            };
            let exact = budget.as_nanos() as f64 / period.as_nanos() as f64;
            cores.iter().for_each(|core| promised[core.index()] += exact);
            let clusters = self.clusters(spread, cores);
            let place = self.servers.len();
            made = true;
            let server = Server {
                name: format!("s{place}"),
                parent: home.server,
                cores,
                kind,
                budget,
                period,
                write_backs: None,
                order,
                spread,
                clusters: clusters.clone(),
                quantum: self.quantum(order),
                priority: self.priority(home.order),
                background: self.random.chance(0.2),
                line: 0,
            };
            self.servers.push(server);
            let inner = Home { server: Some(place), cores, order, spread, clusters, share: exact };
            self.fill(inner, deeper, if deeper > 0 { wanted.take() } else { None }, load);
        }
        let most = promised.iter().copied().fold(0.0, f64::max);
        home.share -= most;
        if !made || home.server.is_none() || self.random.chance(0.3) {
            self.work(&home, load, made);
        }
        self.homes.push(home);
    }

    /// A kind of server; one that works for another has its period.
    fn kind_and_period(&mut self) -> (ServerKind, Duration) {
        // What reclaims has rules for what lies beside it.
        let kinds: Vec<ServerKind> = timed().filter(|kind| *kind != ServerKind::Reclaiming).collect();
        let kind = *self.random.of(&kinds);
        let period = Duration::from_millis(self.random.between(8, 60));
        match (kind, self.servers.len()) {
            (ServerKind::PriorityInheriting, 0) => (ServerKind::Sporadic, period),
            (ServerKind::PriorityInheriting, n) => {
                (kind, self.servers[self.random.between(0, n as u64 - 1) as usize].period)
            }
            _ => (kind, period),
        }
    }

    fn order_and_spread(&mut self) -> (TaskOrder, Migration) {
        (TaskOrder::ALL[self.random.between(0, 8) as usize], SPREADS[self.random.between(0, 2) as usize])
    }

    fn some_of(&mut self, cores: CoreSet) -> CoreSet {
        let mut some = CoreSet::EMPTY;
        for core in cores.iter().filter(|_| self.random.chance(0.6)).collect::<Vec<_>>() {
            some.insert(core);
        }
        if some.is_empty() {
            cores
        } else {
            some
        }
    }

    fn priority(&mut self, order: TaskOrder) -> u32 {
        match order {
            TaskOrder::FixedPriority => self.random.between(1, 20) as u32,
            // Few, so that some are equal.
            TaskOrder::FixedPriorityRoundRobin => self.random.between(1, 2) as u32,
            _ => 0,
        }
    }

    /// Tasks for what the place has; few of them beside servers.
    fn work(&mut self, home: &Home, load: f64, beside: bool) {
        let queues: Vec<CoreSet> = match home.spread {
            Migration::Partitioned => home.cores.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect(),
            Migration::Clustered => home.clusters.clone(),
            Migration::Global => vec![home.cores],
        };
        for queue in queues {
            let cores = queue.iter().count();
            let tasks =
                if beside { self.random.between(0, 1) as usize } else { cores + self.random.between(1, 2) as usize };
            for u in self.random.utilisations(tasks, load * home.share * cores as f64) {
                let mut task = plain(&mut self.random, u);
                if self.random.chance(0.15) {
                    let (least, most) = (task.execution[0].unwrap_or_default(), task.period);
                    task.demand = Demand::Uniform { min: least, max: scaled(least, 1.5).min(most) };
                }
                task.core = match home.spread {
                    Migration::Global => None,
                    // Of a cluster, the first stands for all.
                    _ => queue.iter().next(),
                };
                let rule = if self.random.chance(0.6) { 0 } else { self.random.between(1, 3) as usize };
                let (server, priority) = (home.server, self.priority(home.order));
                self.tasks.push(task);
                self.places.push(TaskPlacement {
                    server,
                    priority,
                    overrun: Overrun::ALL[rule],
                    ..TaskPlacement::default()
                });
            }
        }
    }
}
