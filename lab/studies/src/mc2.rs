//! The systems of the two experiments on MC² (Herman et al., 2.10 and 2.11 of our digest), and what a run of one did.
//!
//! **Our readings**, where the source leaves something open: a quarter of the tasks are of level A, a quarter of level B; the
//! capacity of a level is split among its tasks by UUniFast; A and B are packed onto the cores other than the master by worst
//! fit. For robustness, the capacities are at level-C times and, since 20 times 10 % cannot be in any table, less for A.

use tactus_generate::Random;
use tactus_model::{Body, Demand, Machine, Policy, Scheduling, System, Task};
use tactus_record::{EventKind, Record, Sink};
use tactus_time::{CoreId, Duration, Instant, Level};

/// Capacity of A, B and C as parts of all cores.
pub type Shares = [f64; 3];

/// The source's for overheads.
pub const OVERHEAD_SHARES: [Shares; 3] = [[0.05, 0.05, 0.65], [0.10, 0.10, 0.55], [0.20, 0.20, 0.35]];
/// Our reading of the source's 10/10/55 for robustness, at level-C times.
pub const ROBUSTNESS_SHARES: Shares = [0.018, 0.04, 0.705];

/// What is budgeted beyond a job's execution time, for the system's work on its behalf.
const MARGIN: Duration = Duration::from_micros(60);
/// No job is shorter.
const SHORTEST: Duration = Duration::from_micros(30);

fn part(period: Duration, share: f64) -> Duration {
    Duration::from_nanos((period.as_nanos() as f64 * share) as u64)
}

/// A period of the source for this level.
fn period(random: &mut Random, level: Level) -> Duration {
    let millis = match level {
        Level::A => [25, 50, 100][random.between(0, 2) as usize],
        Level::B => [100, 200, 300][random.between(0, 2) as usize],
        // Rounded to the nearest 5.
        Level::C | Level::D => (random.between(10, 100) + 2) / 5 * 5,
    };
    Duration::from_millis(millis)
}

/// Of each level so many tasks with this share of all cores at level C; `make` gives period and share its times.
fn tasks(
    random: &mut Random,
    cores: usize,
    counts: [usize; 3],
    shares: Shares,
    make: impl Fn(Level, Duration, f64) -> ([Option<Duration>; 4], Demand),
) -> Vec<Task> {
    // Where there is one core only, it is everybody's.
    let first = usize::from(cores > 1);
    let mut load = vec![0.0_f64; cores];
    let mut tasks = Vec::new();
    for (level, (count, share)) in [Level::A, Level::B, Level::C].into_iter().zip(counts.into_iter().zip(shares)) {
        let mut utilisations = random.utilisations(count, share * cores as f64);
        utilisations.sort_by(|a, b| b.total_cmp(a));
        for utilisation in utilisations {
            let period = period(random, level);
            let (execution, demand) = make(level, period, utilisation);
            let core = (level != Level::C).then(|| {
                let core = (first..cores).min_by(|a, b| load[*a].total_cmp(&load[*b])).unwrap_or(0);
                load[core] += utilisation;
                CoreId(core as u8)
            });
            tasks.push(Task {
                name: format!("{}{}", ["a", "b", "c"][level.index()], tasks.len()),
                level: Some(level),
                core,
                offset: Duration::ZERO,
                period,
                deadline: period,
                execution,
                demand,
                minimum: None,
                memory: 0,
                body: Body::Workload,
                line: 0,
            });
        }
    }
    tasks
}

fn system(name: String, cores: usize, seed: u64, duration: Duration, enforce: bool, tasks: Vec<Task>) -> System {
    System {
        source: format!("{name}.toml").into(),
        name,
        cores,
        memory: 512 << 20,
        duration,
        seed,
        policy: Policy::Mc2 { enforce, slack_shifting: true },
        chains: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        services: Vec::new(),
        slots: Vec::new(),
        loads: Vec::new(),
        machine: Machine { shift: 1, processor: Default::default(), overheads: true, beside: 0 },
        tasks,
        components: Vec::new(),
        scheduling: Scheduling::default(),
        platform: tactus_model::Platform::default(),
        disks: Vec::new(),
        monitors: Vec::new(),
        linux: Vec::new(),
        notes: Vec::new(),
    }
}

/// A system of the overhead experiment: `n` tasks with one execution time each.
pub fn overhead_system(cores: usize, n: usize, shares: Shares, seed: u64, duration: Duration) -> System {
    let mut random = Random::new(seed ^ (n as u64) << 32 ^ (cores as u64) << 48);
    let counts = [n / 4, n / 4, n - n / 4 * 2];
    let tasks = tasks(&mut random, cores, counts, shares, |_, period, share| {
        let execution = part(period, share).max(SHORTEST);
        ([Some(execution + MARGIN); 4], Demand::Fixed(execution))
    });
    let tasks = tasks.into_iter().map(above_own_level_absent).collect();
    system(format!("mc2-overheads-{cores}-{n}-{seed}"), cores, seed, duration, true, tasks)
}

fn above_own_level_absent(mut task: Task) -> Task {
    let own = task.level.map_or(0, Level::index);
    task.execution[..own].fill(None);
    task
}

/// How jobs of the robustness experiment behave.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Behaviour {
    /// The probability that a job takes a beta sample of its level-A time.
    pub probability: f64,
    /// The mean of that sample.
    pub mean: f64,
}

/// The deviation at which P(X > 0.5) stays below 1 % at a mean of 0.05. It stays as the mean is shifted, as far as a beta
/// distribution can have it.
pub const DEVIATION: f64 = 0.1;

/// A system of the robustness experiment: e_B = 10 e_C, e_A = 20 e_C. `margin` is budgeted on top.
pub fn robustness_system(
    cores: usize,
    n: usize,
    shares: Shares,
    (seed, duration): (u64, Duration),
    behaviour: Behaviour,
    enforce: bool,
    margin: Duration,
) -> System {
    let mut random = Random::new(seed ^ (n as u64) << 32 ^ (cores as u64) << 48);
    let counts = [n / 4, n / 4, n - n / 4 * 2];
    let Behaviour { probability, mean } = behaviour;
    let mean = mean.clamp(0.001, 0.985);
    let deviation = DEVIATION.min(0.99 * (mean * (1.0 - mean)).sqrt());
    let tasks = tasks(&mut random, cores, counts, shares, |_, period, share| {
        let usual = part(period, share).max(Duration::from_micros(2));
        let execution = [usual * 20, usual * 10, usual, usual].map(|time| Some(time + margin));
        (execution, Demand::Beta { usual, scale: usual * 20, probability, mean, deviation })
    });
    let tasks = tasks.into_iter().map(above_own_level_absent).collect();
    system(format!("mc2-robustness-{cores}-{n}-{seed}"), cores, seed, duration, enforce, tasks)
}

/// What became of the jobs of one level.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct OfLevel {
    /// Jobs that were due within the run.
    pub due: u64,
    /// Of those, how many were not finished at their deadline.
    pub missed: u64,
    /// Jobs that were finished, and the sum of their response times, each divided by the period. A job that was due and is not
    /// finished counts with its time so far.
    pub finished: u64,
    /// See `finished`.
    pub relative: f64,
}

impl OfLevel {
    /// Missed of those due.
    pub fn miss_ratio(&self) -> f64 {
        self.missed as f64 / self.due.max(1) as f64
    }
    /// Average response by period.
    pub fn relative_response(&self) -> f64 {
        self.relative / self.finished.max(1) as f64
    }
    /// Both together.
    pub fn join(&mut self, other: &OfLevel) {
        self.due += other.due;
        self.missed += other.missed;
        self.finished += other.finished;
        self.relative += other.relative;
    }
}

/// Counts what becomes of jobs from the records of a run, in any order of cores.
pub struct Tally<'s> {
    system: &'s System,
    done: Vec<u32>,
    /// Of levels A to C.
    pub levels: [OfLevel; 3],
}

impl<'s> Tally<'s> {
    /// Nothing counted.
    pub fn new(system: &'s System) -> Self {
        Tally { system, done: vec![0; system.tasks.len()], levels: Default::default() }
    }

    /// Counts what was due and is not done.
    pub fn end(mut self) -> [OfLevel; 3] {
        let end = Instant::ZERO + self.system.duration;
        for (task, done) in self.system.tasks.iter().zip(&self.done) {
            let Some(of) = task.level.and_then(|level| self.levels.get_mut(level.index())) else { continue };
            let mut job = *done;
            loop {
                let release = Instant::ZERO + task.offset + task.period * u64::from(job);
                if release + task.deadline > end {
                    break;
                }
                of.due += 1;
                of.missed += 1;
                of.finished += 1;
                of.relative += end.since(release).as_nanos() as f64 / task.period.as_nanos() as f64;
                job += 1;
            }
        }
        self.levels
    }
}

impl Sink for Tally<'_> {
    fn record(&mut self, record: Record) {
        let Some(id) = record.task.filter(|_| record.kind == EventKind::Complete) else { return };
        let task = &self.system.tasks[id.index()];
        self.done[id.index()] += 1;
        let Some(of) = task.level.and_then(|level| self.levels.get_mut(level.index())) else { return };
        let release = Instant::ZERO + task.offset + task.period * u64::from(record.job);
        let due = release + task.deadline;
        if due <= Instant::ZERO + self.system.duration {
            of.due += 1;
            of.missed += u64::from(record.time > due);
        }
        of.finished += 1;
        of.relative += record.time.since(release).as_nanos() as f64 / task.period.as_nanos() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_met_and_the_master_has_no_critical_task() {
        for shares in OVERHEAD_SHARES {
            let system = overhead_system(4, 80, shares, 7, Duration::from_secs(1));
            assert_eq!(system.tasks.len(), 80);
            for (level, share) in [Level::A, Level::B, Level::C].into_iter().zip(shares) {
                let of = system.tasks.iter().filter(|task| task.level == Some(level));
                let sum: f64 = of
                    .map(|task| {
                        assert_eq!(task.core.is_some(), level != Level::C);
                        assert_ne!(task.core, Some(CoreId(0)));
                        let Demand::Fixed(time) = task.demand else { panic!("one execution time") };
                        time.as_nanos() as f64 / task.period.as_nanos() as f64
                    })
                    .sum();
                assert!((sum - share * 4.0).abs() < 0.05, "{level:?}: {sum} for {share}");
            }
        }
    }

    /// Statement 20, from the closed form of the beta distribution's tail by sampling.
    #[test]
    fn at_a_mean_of_a_twentieth_less_than_one_job_in_a_hundred_exceeds_half() {
        let behaviour = Behaviour { probability: 1.0, mean: 0.05 };
        let run = (3, Duration::from_secs(1));
        let system = robustness_system(4, 40, ROBUSTNESS_SHARES, run, behaviour, true, Duration::ZERO);
        let (mut long, mut all, mut sum) = (0_u32, 0_u32, 0.0);
        for (n, task) in system.tasks.iter().enumerate() {
            let Demand::Beta { scale, .. } = task.demand else { panic!("beta") };
            for job in 0..1_000 {
                let part =
                    task.demand(3, tactus_time::TaskId(n as u16), job).as_nanos() as f64 / scale.as_nanos() as f64;
                all += 1;
                long += u32::from(part > 0.5);
                sum += part;
            }
        }
        let (long, mean) = (f64::from(long) / f64::from(all), sum / f64::from(all));
        assert!((0.007..0.01).contains(&long), "P(X > 0.5) = {long}");
        assert!((mean - 0.05).abs() < 0.005, "mean {mean}");
    }
}
