//! Task sets whose utilisations are drawn from a distribution until a cap is reached.
//!
//! The 18 of Brandenburg's and his co-authors' studies at UNC are three ranges of periods by three uniform and three
//! bimodal distributions of utilisations; the same authors also use exponential ones. Tasks are added until their total lies in
//! [cap − slack, cap]. The sources do not say what happens to a task that would go beyond the cap: here it is drawn
//! again, up to [`TRIES`] times; then the set is begun anew.

use super::{Random, Task};

/// How often a task that does not fit is drawn again before the set is begun anew.
pub const TRIES: u32 = 100;

/// How utilisations are drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Utilisations {
    /// Uniform in a range.
    Uniform(f64, f64),
    /// Uniform in the first range with this probability, else in the second.
    Bimodal((f64, f64), (f64, f64), f64),
    /// Exponential with this mean; above 1 drawn again.
    Exponential(f64),
}

/// How periods are drawn, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Periods {
    /// Whole milliseconds, uniform in a range.
    Uniform(u64, u64),
    /// Log-uniform in a range, whole microseconds.
    LogUniform(u64, u64),
}

/// Names of the utilisations, as in the studies.
pub const UTILISATIONS: [(&str, Utilisations, f64); 12] = [
    ("uni-light", Utilisations::Uniform(0.001, 0.1), 0.07),
    ("uni-medium", Utilisations::Uniform(0.1, 0.4), 0.07),
    ("uni-heavy", Utilisations::Uniform(0.5, 0.9), 0.1),
    ("bimo-light", Utilisations::Bimodal((0.001, 0.1), (0.5, 0.9), 8.0 / 9.0), 0.07),
    ("bimo-medium", Utilisations::Bimodal((0.001, 0.1), (0.5, 0.9), 6.0 / 9.0), 0.07),
    ("bimo-heavy", Utilisations::Bimodal((0.001, 0.1), (0.5, 0.9), 4.0 / 9.0), 0.1),
    ("exp-light", Utilisations::Exponential(0.10), 0.07),
    ("exp-medium", Utilisations::Exponential(0.25), 0.07),
    ("exp-heavy", Utilisations::Exponential(0.50), 0.1),
    // The range of the lighter mode in the wider form of the same authors' later studies.
    ("wide-bimo-light", Utilisations::Bimodal((0.001, 0.5), (0.5, 0.9), 8.0 / 9.0), 0.07),
    ("wide-bimo-medium", Utilisations::Bimodal((0.001, 0.5), (0.5, 0.9), 6.0 / 9.0), 0.07),
    ("wide-bimo-heavy", Utilisations::Bimodal((0.001, 0.5), (0.5, 0.9), 4.0 / 9.0), 0.1),
];

/// Names of the periods.
pub const PERIODS: [(&str, Periods); 6] = [
    ("short", Periods::Uniform(3, 33)),
    ("moderate", Periods::Uniform(10, 100)),
    ("long", Periods::Uniform(50, 250)),
    ("log-short", Periods::LogUniform(3, 33)),
    ("log-moderate", Periods::LogUniform(10, 100)),
    ("log-long", Periods::LogUniform(50, 250)),
];

impl Utilisations {
    /// Draws one.
    pub fn draw(&self, random: &mut Random) -> f64 {
        match *self {
            Utilisations::Uniform(low, high) => random.between(low, high),
            Utilisations::Bimodal(first, second, chance) => {
                let (low, high) = if random.unit() < chance { first } else { second };
                random.between(low, high)
            }
            Utilisations::Exponential(mean) => loop {
                let u = random.exponential(mean);
                if u <= 1.0 {
                    return u;
                }
            },
        }
    }
}

impl Periods {
    /// Draws one, in nanoseconds.
    pub fn draw(&self, random: &mut Random) -> u64 {
        match *self {
            Periods::Uniform(low, high) => random.whole(low, high) * 1_000_000,
            Periods::LogUniform(low, high) => log_uniform(random, low * 1_000_000, high * 1_000_000, 1_000),
        }
    }
}

/// Log-uniform in a range of nanoseconds, rounded down to a multiple of `step`.
pub fn log_uniform(random: &mut Random, low: u64, high: u64, step: u64) -> u64 {
    let (l, h) = ((low as f64).ln(), ((high + step) as f64).ln());
    let n = random.between(l, h).exp() as u64;
    (n / step * step).clamp(low, high)
}

/// Fills `tasks` with a set whose utilisations sum up to `cap − slack ..= cap`. False where no such set was found in a
/// thousand beginnings: the distribution does not reach into the range.
pub fn fill(
    tasks: &mut Vec<Task>,
    random: &mut Random,
    (utilisations, periods): (Utilisations, Periods),
    cap: f64,
    slack: f64,
) -> bool {
    for _ in 0..1_000 {
        tasks.clear();
        let mut total = 0.0;
        let mut tries = 0;
        while tries < TRIES {
            let u = utilisations.draw(random);
            if total + u > cap {
                tries += 1;
                continue;
            }
            tries = 0;
            let period = periods.draw(random);
            let execution = ((u * period as f64) as u64).max(1);
            tasks.push(Task { execution, period, deadline: period });
            total += u;
            if total >= cap - slack {
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distribution_reaches_every_cap_of_eight_cores() {
        let mut tasks = Vec::new();
        for (name, utilisations, slack) in UTILISATIONS {
            for cap in 20..=80 {
                let cap = f64::from(cap) / 10.0;
                let mut random = Random::at(1, &[cap.to_bits()]);
                assert!(fill(&mut tasks, &mut random, (utilisations, PERIODS[0].1), cap, slack), "{name} {cap}");
                let total: f64 = tasks.iter().map(|t| t.execution as f64 / t.period as f64).sum();
                assert!(total <= cap && total >= cap - slack - 1e-4, "{name} {cap}: {total}");
            }
        }
    }
}
