//! A cost measured at some numbers of tasks, as a step function of the number of tasks.
//!
//! Gracioli, "Real-time operating system support for multicore applications" (EPOS), section on overheads: a set of k
//! tasks uses the value of the largest measured n ≤ k, after the running maximum over n, so that the function never falls.

use std::fmt;
use tactus_time::Duration;

/// A cost as a function of the number of tasks; never falls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps(Vec<(usize, Duration)>);

/// Why measured values make no step function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadSteps {
    /// Nothing was measured.
    Empty,
    /// Two values for this number of tasks.
    Twice(usize),
}

impl fmt::Display for BadSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadSteps::Empty => f.write_str("no cost was measured; give at least one (number of tasks, cost)"),
            BadSteps::Twice(n) => write!(f, "two costs for {n} tasks; give one, the larger"),
        }
    }
}

impl std::error::Error for BadSteps {}

impl Steps {
    /// From pairs (number of tasks, cost) in any order.
    pub fn new(measured: impl IntoIterator<Item = (usize, Duration)>) -> Result<Steps, BadSteps> {
        let mut all: Vec<(usize, Duration)> = measured.into_iter().collect();
        all.sort_unstable();
        if all.is_empty() {
            return Err(BadSteps::Empty);
        }
        if let Some(pair) = all.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(BadSteps::Twice(pair[0].0));
        }
        let mut most = Duration::ZERO;
        for step in &mut all {
            most = most.max(step.1);
            step.1 = most;
        }
        Ok(Steps(all))
    }

    /// The same cost for any number of tasks.
    pub fn constant(cost: Duration) -> Steps {
        Steps(vec![(0, cost)])
    }

    /// The cost with `k` tasks: of the largest measured n ≤ k; below the smallest measured n, of that one.
    pub fn at(&self, k: usize) -> Duration {
        let place = self.0.partition_point(|step| step.0 <= k);
        self.0[place.max(1) - 1].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_tasks_cost_what_was_measured_with_fifteen_or_any_fewer() {
        let us = Duration::from_micros;
        let steps = Steps::new([(25, us(4)), (5, us(3)), (15, us(2)), (50, us(9))]).unwrap();
        assert_eq!([1, 5, 20, 25, 49, 50, 125].map(|k| steps.at(k)), [3, 3, 3, 4, 4, 9, 9].map(us));
        assert_eq!(Steps::new([]), Err(BadSteps::Empty));
        assert_eq!(Steps::new([(5, us(1)), (5, us(2))]), Err(BadSteps::Twice(5)));
    }
}
