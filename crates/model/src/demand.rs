//! How long each job really takes: a function of seed, task and job number alone, so that simulator and machine
//! agree in whatever order they ask.

use crate::{Demand, System, Task};
use rand_distr::{Beta, Distribution};
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use tactus_time::{Duration, Level, TaskId};

/// The least that a job takes: below it the system's own work is all that could be measured.
pub const SHORTEST_JOB: Duration = Duration::from_micros(1);

impl Task {
    /// What the job with this number takes, counted from 0; at least [`SHORTEST_JOB`]. The same for the same
    /// arguments, whatever was asked before.
    pub fn demand(&self, seed: u64, task: TaskId, job: u32) -> Duration {
        let length = match &self.demand {
            Demand::Fixed(length) => *length,
            Demand::Uniform { min, max } => {
                let (min, max) = (min.as_nanos(), max.as_nanos());
                // The high half of a 64 × 65-bit product: bias below 2^-20 for spans of a day, and no rejection loop.
                let span = u128::from(max.saturating_sub(min)) + 1;
                let drawn = (u128::from(stream(seed, task, job).next_u64()) * span) >> 64;
                Duration::from_nanos(min.saturating_add(drawn as u64))
            }
            Demand::Beta { usual, scale, probability, mean, deviation } => {
                let mut numbers = stream(seed, task, job);
                if unit(numbers.next_u64()) >= *probability {
                    *usual
                } else {
                    match shape(*mean, *deviation).and_then(|(alpha, beta)| Beta::new(alpha, beta).ok()) {
                        Some(beta) => fraction_of(*scale, beta.sample(&mut numbers)),
                        // Cannot be: the parameters were validated. The mean is the nearest honest answer.
                        None => fraction_of(*scale, *mean),
                    }
                }
            }
            Demand::List(lengths) => match lengths.len() {
                0 => SHORTEST_JOB,
                n => lengths[job as usize % n],
            },
        };
        length.max(SHORTEST_JOB)
    }

    /// The execution time as assumed at `level`; at levels that are more critical than the task's own, where it may
    /// be absent, the time at its own level. Without levels, the task's one execution time.
    pub fn execution_at(&self, level: Level) -> Duration {
        let own = self.level.unwrap_or_default();
        let chosen = if level < own {
            self.execution[level.index()].or(self.execution[own.index()])
        } else {
            self.execution[level.index()]
        };
        chosen.unwrap_or_default()
    }

    /// The execution time at the task's own level: its budget. Without levels, its one execution time.
    pub fn budget(&self) -> Duration {
        self.execution_at(self.level.unwrap_or_default())
    }
}

impl System {
    /// Makes every job take exactly its task's execution time at `level` (at its own level, where the task is less
    /// critical and has no time at that level).
    pub fn at_level(&mut self, level: Level) {
        for task in &mut self.tasks {
            task.demand = Demand::Fixed(task.execution_at(level));
        }
    }
}

/// The shape parameters of the beta distribution with this mean and standard deviation, if there is one that can be
/// sampled with double precision: k = μ(1−μ)/σ² − 1, α = μk, β = (1−μ)k, both between 0.001 and 1,000,000.
pub(crate) fn shape(mean: f64, deviation: f64) -> Option<(f64, f64)> {
    if !(mean > 0.0 && mean < 1.0 && deviation > 0.0) {
        return None;
    }
    let k = mean * (1.0 - mean) / (deviation * deviation) - 1.0;
    let (alpha, beta) = (mean * k, (1.0 - mean) * k);
    let sane = |x: f64| (1e-3..=1e6).contains(&x);
    (sane(alpha) && sane(beta)).then_some((alpha, beta))
}

/// `x` times `length`, for `x` between 0 and 1.
fn fraction_of(length: Duration, x: f64) -> Duration {
    Duration::from_nanos((length.as_nanos() as f64 * x.clamp(0.0, 1.0)) as u64).min(length)
}

/// A number in [0, 1) from 53 random bits.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// The random numbers of one job: a generator of its own, started from a hash of who asks.
pub(crate) fn stream(seed: u64, task: TaskId, job: u32) -> SplitMix64 {
    let who = u64::from(task.0) << 32 | u64::from(job);
    // Two rounds: neighbours in any of the three must start far from each other in the generator's one long cycle.
    let first = SplitMix64::seed_from_u64(seed).next_u64();
    SplitMix64::seed_from_u64(SplitMix64::seed_from_u64(first ^ who).next_u64())
}
