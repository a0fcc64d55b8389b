//! Random systems that change while they run.

use super::random::Random;
use super::{generate, scaled, tree, POLICIES, SHORTEST};
use std::collections::HashMap;
use tactus_model::{
    shortest_period, Action, Change, Migration, Mixed, Part, Policy, Server, System, TaskOrder, TaskPlacement, Values,
    MAX_CHANGES, MAX_SERVERS, SHORTEST_QUANTUM,
};
use tactus_time::{CoreId, CoreSet, Duration, Level};

/// The part of a run after which nothing more is asked for.
const LATEST: f64 = 0.9;

/// The tree of this seed with changes: every other one as it is, the others with a server for each core where one had several and
/// everything bound to a core, so that all are quiet more often. Nothing if that makes more servers than there may be, or
/// there is nothing that can be changed.
pub fn changing(seed: u64) -> Option<System> {
    let tree = tree(seed);
    let system = if seed % 2 == 0 || tree.scheduling.servers.is_empty() { tree } else { core_by_core(tree) };
    if system.scheduling.servers.len() > MAX_SERVERS {
        return None;
    }
    with_changes(&system)
}

/// The system of this seed under a policy that has levels, MC², AMC or EDF-VD, with changes.
pub fn changing_levels(seed: u64) -> System {
    let kinds = POLICIES.iter().filter(|policy| policy.has_levels()).count() as u64;
    let first = POLICIES.len() as u64 - kinds;
    // Policies come in turn, these last.
    let seed = seed / kinds * POLICIES.len() as u64 + first + seed % kinds;
    let system = generate(seed);
    with_changes(&system).unwrap_or(system)
}

/// The system with changes, a function of its seed; nothing if it is not one that can have some. Of what is changed at all,
/// some is added first, so that it begins absent.
pub fn with_changes(system: &System) -> Option<System> {
    let (spread, order) = match system.policy {
        Policy::PartitionedRm => (Migration::Partitioned, TaskOrder::RateMonotonic),
        Policy::PartitionedEdf => (Migration::Partitioned, TaskOrder::EarliestDeadline),
        Policy::GlobalRm => (Migration::Global, TaskOrder::RateMonotonic),
        Policy::GlobalEdf => (Migration::Global, TaskOrder::EarliestDeadline),
        Policy::Ordered { spread, order } => (spread, order),
        // Its table stays as it is.
        Policy::Partitions => return None,
        Policy::Mixed(Mixed::Amc) => (Migration::Partitioned, TaskOrder::FixedPriority),
        Policy::Mixed(Mixed::EdfVd) => (Migration::Partitioned, TaskOrder::EarliestDeadline),
        // No priorities, and periods for deadlines.
        Policy::Mc2 { .. } => (Migration::Global, TaskOrder::EarliestDeadline),
    };
    let mut system = system.clone();
    if !system.policy.has_levels() {
        system.policy = Policy::Ordered { spread, order };
    }
    system.scheduling.places.resize(system.tasks.len(), TaskPlacement::default());
    let changes = Drawing { random: Random::new(system.seed ^ 0x6368_616e), system: &system, order }.changes();
    system.scheduling.changes = changes;
    (!system.scheduling.changes.is_empty()).then_some(system)
}

/// Lets the system run for so long; what is asked for comes at the same part of the run as before.
pub fn lasting(system: &mut System, duration: Duration) {
    let before = system.duration.as_nanos().max(1);
    for change in &mut system.scheduling.changes {
        let part = u128::from(change.at.as_nanos()) * u128::from(duration.as_nanos()) / u128::from(before);
        change.at = Duration::from_nanos(part as u64);
    }
    system.duration = duration;
}

/// The same load, where nothing is shared among cores.
pub(super) fn core_by_core(mut system: System) -> System {
    let all = CoreSet::first(system.cores);
    let old = std::mem::take(&mut system.scheduling.servers);
    let clusters = std::mem::take(&mut system.scheduling.clusters);
    let mut servers: Vec<Server> = Vec::new();
    // What has become of a server on a core.
    let mut place: HashMap<(usize, CoreId), usize> = HashMap::new();
    for (n, server) in old.iter().enumerate() {
        for core in server.cores.iter() {
            let parent = server.parent.and_then(|parent| place.get(&(parent, core)).copied());
            place.insert((n, core), servers.len());
            let (name, cores) = (format!("{}-{core}", server.name), CoreSet::from_bits(1 << core.0));
            let one =
                Server { name, parent, cores, spread: Migration::Partitioned, clusters: Vec::new(), ..server.clone() };
            servers.push(one);
        }
    }
    let tasks = system.tasks.len();
    system.scheduling.places.resize(tasks, TaskPlacement::default());
    for (n, (task, it)) in system.tasks.iter_mut().zip(&mut system.scheduling.places).enumerate() {
        let (cores, clusters) = it.server.map_or((all, &clusters), |server| (old[server].cores, &old[server].clusters));
        let shared = match task.core {
            // Of a cluster, the first stands for all.
            Some(core) => clusters.iter().find(|cluster| cluster.contains(core)).copied(),
            None => Some(cores),
        };
        if let Some(shared) = shared {
            task.core = shared.iter().nth(n % shared.iter().count().max(1));
        }
        it.server = it.server.zip(task.core).and_then(|home| place.get(&home).copied());
    }
    system.scheduling.servers = servers;
    let order = match system.policy {
        Policy::Ordered { order, .. } => order,
        Policy::PartitionedRm | Policy::GlobalRm => TaskOrder::RateMonotonic,
        _ => TaskOrder::EarliestDeadline,
    };
    system.policy = Policy::Ordered { spread: Migration::Partitioned, order };
    system
}

struct Drawing<'s> {
    random: Random,
    system: &'s System,
    order: TaskOrder,
}

impl Drawing<'_> {
    /// A few for each core, some of them in one instant or in that of a release.
    fn changes(&mut self) -> Vec<Change> {
        let parts = self.parts();
        if parts.is_empty() {
            return Vec::new();
        }
        let count = self.random.between(3, 4 + 3 * self.system.cores as u64).min(MAX_CHANGES as u64);
        let mut times: Vec<Duration> = (0..count).map(|_| self.instant()).collect();
        times.sort_unstable();
        // Whether a part is there, of those that were changed before.
        let mut there: HashMap<Part, bool> = HashMap::new();
        let mut changes: Vec<Change> = Vec::new();
        for at in times {
            let part = parts[self.random.between(0, parts.len() as u64 - 1) as usize];
            let action = match (there.get(&part), self.random.unit()) {
                (Some(false), _) => Action::Add,
                (None, x) if x < 0.5 => Action::Add,
                (_, x) if x < 0.75 => Action::Remove,
                _ => Action::Alter(self.values(part)),
            };
            there.insert(part, action != Action::Remove);
            let at = changes.last().filter(|_| self.random.chance(0.25)).map_or(at, |last| last.at);
            changes.push(Change { at, part, action, line: 0 });
        }
        changes
    }

    fn instant(&mut self) -> Duration {
        let micros = self.system.duration.as_nanos() as f64 / 1e3 * LATEST * self.random.unit();
        match self.random.chance(0.5) {
            true => Duration::from_millis((micros / 1e3) as u64),
            false => Duration::from_micros(micros as u64),
        }
    }

    /// What may be changed: all tasks and servers, a server as likely as two tasks.
    fn parts(&self) -> Vec<Part> {
        let tasks = (0..self.system.tasks.len()).map(Part::Task);
        let servers = (0..self.system.scheduling.servers.len()).map(Part::Server);
        tasks.chain(servers.clone()).chain(servers).collect()
    }

    /// Whether it is of level A of MC², whose periods are such that tables are short.
    fn in_a_table(&self, part: Part) -> bool {
        let Part::Task(n) = part else { return false };
        matches!(self.system.policy, Policy::Mc2 { .. }) && self.system.tasks[n].level == Some(Level::A)
    }

    /// New times at each level of a task that has more than one, or at the first alone.
    fn levels(&mut self, part: Part, factor: f64) -> Option<[Option<Duration>; 4]> {
        let Part::Task(n) = part else { return None };
        let task = &self.system.tasks[n];
        let mut levels = task.execution.map(|time| Some(scaled(time?, factor).min(task.deadline)));
        let several = task.level.is_some() && levels.iter().flatten().count() > 1;
        if several && self.random.chance(0.4) {
            let first = task.level.unwrap_or_default().index();
            levels.iter_mut().enumerate().filter(|(level, _)| *level != first).for_each(|(_, time)| *time = None);
        }
        several.then_some(levels)
    }

    /// One new value or two; more often more work than less.
    fn values(&mut self, part: Part) -> Values {
        let mut values = Values::default();
        let longer = self.random.chance(0.7);
        let factor = if longer { 1.0 + 0.6 * self.random.unit() } else { 0.6 + 0.4 * self.random.unit() };
        let (time, period, longest, order, least) = match part {
            Part::Task(n) => {
                let task = &self.system.tasks[n];
                let home = self.system.scheduling.places[n].server;
                let order = home.map_or(self.order, |server| self.system.scheduling.servers[server].order);
                let time = task.execution[task.level.unwrap_or_default().index()].unwrap_or_default();
                (time, task.period, task.deadline, order, SHORTEST)
            }
            Part::Server(n) => {
                let server = &self.system.scheduling.servers[n];
                let around = server.parent.map_or(self.order, |parent| self.system.scheduling.servers[parent].order);
                (server.budget, server.period, server.period, around, SHORTEST_QUANTUM)
            }
        };
        let what = self.random.between(0, 3);
        if what == 0 && order.has_priorities() {
            values.priority = Some(self.random.between(1, 20) as u32);
        } else if what == 1 {
            let least = shortest_period(self.system.machine.shift);
            let millis = (period.as_nanos() as f64 / 1e6 / factor).round().max(1.0) as u64;
            values.period = Some(match self.in_a_table(part) {
                true => Duration::from_millis([25, 50, 100][self.random.between(0, 2) as usize]),
                false => Duration::from_millis(millis).max(least),
            });
        } else if let Some(levels) = self.levels(part, factor) {
            values.levels = levels;
        } else {
            values.time = Some(scaled(time, factor).min(longest).max(least));
        }
        values
    }
}
