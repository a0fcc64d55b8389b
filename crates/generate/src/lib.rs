//! Random systems for comparisons of simulator and kernel: every policy, 1 to 8 cores, light to overloaded.
//!
//! Utilisations are drawn with UUniFast (E. Bini, G. Buttazzo, *Measuring the performance of schedulability tests*,
//! Real-Time Systems 30, 2005) and drawn again while a task has more than 1 (UUniFast-Discard: R. Davis, A. Burns, RTSS
//! 2009). Periods are log-uniform from 10 to 200 ms, rounded to 1 ms, so that a run of one second has plenty of
//! jobs and many releases at the same instant. A system is a function of its seed.

#![forbid(unsafe_code)]

mod changing;
mod combined;
mod featured;
mod jittered;
mod mc2;
mod partitions;
mod per_server;
mod raised;
mod random;
mod released;
mod returning;
mod sharing;
mod soft;
mod trees;
mod waiting;

pub use changing::{changing, changing_levels, lasting, with_changes};
pub use combined::combined;
pub use featured::{everything, featured, overload};
pub use jittered::jittered;
pub use mc2::mc2;
pub use partitions::partitions;
pub use per_server::per_server;
pub use raised::{raised, RAISER};
pub use released::released;
pub use returning::returning;
pub use sharing::sharing;
pub use soft::soft;
pub use trees::{tree, DEEPEST};
pub use waiting::waiting;

pub use random::Random;
use std::path::PathBuf;
use tactus_model::{Body, Demand, Machine, Migration, Mixed, Policy, Scheduling, System, Task, TaskPlacement};
use tactus_time::{CoreId, Duration, Level};

/// The shortest execution time drawn; less would be lost in the system's own work.
pub const SHORTEST: Duration = Duration::from_micros(50);

/// What a random system is to be like. The fields may be changed before [`Draw::system`].
#[derive(Clone, Debug)]
pub struct Draw {
    /// Seed of everything else, also the system's own.
    pub seed: u64,
    /// The policy.
    pub policy: Policy,
    /// Number of cores, 1 to 8.
    pub cores: usize,
    /// Number of tasks; not less than 3 for each core, or no choice is left for their utilisations.
    pub tasks: usize,
    /// Utilisation of each core, from 0.3 to 1.1; under MC² that of levels A to C together at level-C times.
    pub utilisation: f64,
    /// How long it runs.
    pub duration: Duration,
}

/// All policies, in the order in which seeds choose them.
pub const POLICIES: [Policy; 9] = [
    Policy::PartitionedRm,
    Policy::PartitionedEdf,
    Policy::GlobalRm,
    Policy::GlobalEdf,
    Policy::Mc2 { enforce: true, slack_shifting: true },
    Policy::Mc2 { enforce: true, slack_shifting: false },
    Policy::Mc2 { enforce: false, slack_shifting: true },
    Policy::Mixed(Mixed::Amc),
    Policy::Mixed(Mixed::EdfVd),
];

/// The system of this seed: policies in turn, everything else drawn.
pub fn generate(seed: u64) -> System {
    Draw::from_seed(seed).system()
}

/// The system of this seed among all that there are: even seeds take the machines of their own in turn ([`generate`]), odd
/// ones orders, spreads, overruns and servers up to three deep ([`tree`]). Half of those that can change while they run
/// do so ([`with_changes`]). Where each core has RM or EDF, some tasks are due after their next release.
pub fn any(seed: u64) -> System {
    let half = seed / 2;
    let system = match seed % 2 {
        0 => generate(half),
        _ => tree(half),
    };
    let changed = (half % 2 == 1).then(|| with_changes(&system)).flatten();
    changed.unwrap_or_else(|| due_later(system))
}

/// Has every third task on the average that is due with its period be due half a period later, where jobs may queue.
fn due_later(mut system: System) -> System {
    let each = matches!(system.policy, Policy::PartitionedRm | Policy::PartitionedEdf);
    let late = |task: &&mut Task| each && task.deadline == task.period && task.period.as_nanos() % 3 == 0;
    for task in system.tasks.iter_mut().filter(late) {
        task.deadline = task.period + task.period / 2;
    }
    system
}

impl Draw {
    /// Policies in turn; 1 to 8 cores, 5 to 120 tasks (more of the small numbers), utilisation from 0.3 to 1.1.
    pub fn from_seed(seed: u64) -> Draw {
        let mut random = Random::new(seed);
        let policy = POLICIES[(seed % POLICIES.len() as u64) as usize];
        let cores = random.between(1, 8) as usize;
        let tasks = (random.log_uniform(5.0, 120.0).round() as usize).max(3 * cores);
        let utilisation = 0.3 + 0.8 * random.unit();
        Draw { seed, policy, cores, tasks, utilisation, duration: Duration::from_secs(1) }
    }

    /// Draws the system.
    pub fn system(&self) -> System {
        let mut random = Random::new(!self.seed);
        let mut tasks = match self.policy {
            Policy::PartitionedRm | Policy::PartitionedEdf => self.partitioned(&mut random),
            Policy::GlobalRm | Policy::GlobalEdf => self.global(&mut random),
            Policy::Ordered { spread: Migration::Global, .. } => self.global(&mut random),
            Policy::Ordered { .. } | Policy::Partitions => self.partitioned(&mut random),
            Policy::Mixed(_) => self.dual(&mut random),
            Policy::Mc2 { .. } => self.mixed(&mut random),
        };
        for (number, task) in tasks.iter_mut().enumerate() {
            task.name = format!("t{number}");
        }
        self.with(tasks)
    }

    /// The system that consists of these tasks.
    fn with(&self, tasks: Vec<Task>) -> System {
        let name = format!("generated-{}", self.seed);
        let places = match self.policy {
            // Shorter periods go first.
            Policy::Mixed(Mixed::Amc) => {
                let priority = |task: &Task| 1_000 - (task.period.as_nanos() / 1_000_000) as u32;
                tasks
                    .iter()
                    .map(|task| TaskPlacement { priority: priority(task), ..TaskPlacement::default() })
                    .collect()
            }
            _ => Vec::new(),
        };
        System {
            source: PathBuf::from(format!("{name}.toml")),
            name,
            cores: self.cores,
            memory: 256 << 20,
            duration: self.duration,
            seed: self.seed,
            policy: self.policy,
            chains: Vec::new(),
            channels: Vec::new(),
            mailboxes: Vec::new(),
            services: Vec::new(),
            slots: Vec::new(),
            loads: Vec::new(),
            machine: Machine { shift: 3, processor: Default::default(), overheads: true, beside: 0 },
            tasks,
            components: Vec::new(),
            scheduling: Scheduling { places, ..Scheduling::default() },
            platform: tactus_model::Platform::default(),
            disks: Vec::new(),
            monitors: Vec::new(),
            linux: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn partitioned(&self, random: &mut Random) -> Vec<Task> {
        let mut tasks = Vec::new();
        for core in 0..self.cores {
            // The first cores take what is left over.
            let n = self.tasks / self.cores + usize::from(core < self.tasks % self.cores);
            for u in random.utilisations(n, self.utilisation) {
                let mut task = plain(random, u);
                task.core = Some(CoreId(core as u8));
                tasks.push(task);
            }
        }
        tasks
    }

    fn global(&self, random: &mut Random) -> Vec<Task> {
        let all = random.utilisations(self.tasks, self.utilisation * self.cores as f64);
        all.into_iter().map(|u| plain(random, u)).collect()
    }

    /// Two levels of criticality: about half the tasks are critical, with up to twice their LO time; most of their jobs keep
    /// to that.
    fn dual(&self, random: &mut Random) -> Vec<Task> {
        let mut tasks = self.partitioned(random);
        for task in &mut tasks {
            let low = task.execution[0].unwrap_or_default();
            task.execution = [None, Some(low), None, None];
            task.level = Some(Level::B);
            // So that every virtual deadline means something to the tests that there are.
            task.deadline = task.period;
            if random.chance(0.5) {
                let high = scaled(low, 1.0 + random.unit()).clamp(low, task.period);
                task.execution[0] = Some(high);
                task.level = Some(Level::A);
                task.demand = match random.unit() {
                    x if x < 0.7 => demand(random, low),
                    x if x < 0.95 => Demand::Uniform { min: scaled(low, 0.5), max: high },
                    _ => Demand::Uniform { min: scaled(low, 0.5), max: scaled(high, 1.2) },
                };
            }
        }
        tasks
    }

    /// Levels A and B take at most 0.35 of a core each, at their own level; level C fills up.
    fn mixed(&self, random: &mut Random) -> Vec<Task> {
        let mut bound: Vec<[usize; 2]> = vec![[0; 2]; self.cores];
        let mut count_c = 1;
        let mut count_d = 0;
        for _ in 1..self.tasks {
            let core = random.between(0, self.cores as u64 - 1) as usize;
            match random.unit() {
                x if x < 0.25 => bound[core][0] += 1,
                x if x < 0.5 => bound[core][1] += 1,
                x if x < 0.9 => count_c += 1,
                _ => count_d += 1,
            }
        }
        let mut tasks = Vec::new();
        for (core, counts) in bound.iter().enumerate() {
            for (level, count) in [Level::A, Level::B].into_iter().zip(counts) {
                let share = 0.1 + 0.25 * random.unit();
                for u in random.utilisations(*count, share) {
                    tasks.push(critical(random, level, CoreId(core as u8), u));
                }
            }
        }
        let taken: f64 = tasks.iter().map(|t| fraction(t.execution[Level::C.index()], t.period)).sum();
        let cores = self.cores as f64;
        // A task has one core at most, so that few tasks cannot fill many cores.
        let left = (self.utilisation * cores - taken).clamp(0.05 * cores, 0.7 * count_c as f64);
        for u in random.utilisations(count_c, left) {
            let mut task = plain(random, u);
            task.level = Some(Level::C);
            (task.execution[0], task.execution[1]) = (None, None);
            task.deadline = task.period;
            tasks.push(task);
        }
        for _ in 0..count_d {
            let share = 0.02 + 0.2 * random.unit();
            let mut task = plain(random, share);
            task.level = Some(Level::D);
            task.execution = [None, None, None, task.execution[3]];
            task.deadline = task.period;
            tasks.push(task);
        }
        tasks
    }
}

/// A task without levels.
fn plain(random: &mut Random, utilisation: f64) -> Task {
    let period = random.log_uniform(10.0, 200.0).round() as u64;
    let offset = if random.chance(0.3) { random.between(0, period - 1) } else { 0 };
    let execution = part(period, utilisation);
    let least = (period * 6).div_ceil(10).max(execution.as_nanos().div_ceil(1_000_000)).min(period);
    let deadline = if random.chance(0.2) { random.between(least, period) } else { period };
    Task {
        name: String::new(),
        level: None,
        core: None,
        offset: Duration::from_millis(offset),
        period: Duration::from_millis(period),
        deadline: Duration::from_millis(deadline),
        execution: [Some(execution); 4],
        demand: demand(random, execution),
        minimum: None,
        memory: 0,
        body: Body::Workload,
        line: 0,
    }
}

/// A task of level A or B, with `utilisation` at its own level. Level A has harmonic periods and no offsets, so that
/// its table exists and is short.
fn critical(random: &mut Random, level: Level, core: CoreId, utilisation: f64) -> Task {
    let mut task = plain(random, utilisation);
    if level == Level::A {
        let period = [25, 50, 100][random.between(0, 2) as usize];
        (task.period, task.offset) = (Duration::from_millis(period), Duration::ZERO);
    }
    let own = part(task.period.as_nanos() / 1_000_000, utilisation);
    let less = |random: &mut Random, than: Duration| scaled(than, 0.5 + 0.5 * random.unit());
    let (a, b) = match level {
        Level::A => (Some(own), less(random, own)),
        _ => (None, own),
    };
    let c = less(random, b);
    task.execution = [a, Some(b), Some(c), Some(c)];
    task.level = Some(level);
    task.core = Some(core);
    task.deadline = task.period;
    // Most systems behave at level-C times; some jobs need what their own level allows, some more than that.
    task.demand = match random.unit() {
        x if x < 0.6 => demand(random, c),
        x if x < 0.9 => Demand::Uniform { min: scaled(c, 0.5), max: own },
        _ => Demand::Uniform { min: scaled(c, 0.5), max: scaled(own, 1.3) },
    };
    task
}

/// At most `most`: always that, or uniform from half of it on.
fn demand(random: &mut Random, most: Duration) -> Demand {
    match random.chance(0.5) {
        true => Demand::Fixed(most),
        false => Demand::Uniform { min: scaled(most, 0.5), max: most },
    }
}

/// The part of a period in whole microseconds, not less than [`SHORTEST`] and not more than the period.
fn part(period_ms: u64, utilisation: f64) -> Duration {
    let period = Duration::from_millis(period_ms);
    Duration::from_micros((period_ms as f64 * 1e3 * utilisation) as u64).max(SHORTEST).min(period)
}

fn scaled(length: Duration, factor: f64) -> Duration {
    Duration::from_micros((length.as_nanos() as f64 * factor / 1e3) as u64).max(SHORTEST)
}

fn fraction(execution: Option<Duration>, period: Duration) -> f64 {
    execution.unwrap_or_default().as_nanos() as f64 / period.as_nanos() as f64
}
