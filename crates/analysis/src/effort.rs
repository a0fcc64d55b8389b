//! How long an exact test may search before it gives up.
//!
//! The exact tests are pseudo-polynomial: near full utilisation their search grows with the hyperperiod. A test
//! that runs out of effort says so, and its caller falls back on a cheaper test; it never guesses.

/// Longest time that a fixed-point search looks at: about 146 years in nanoseconds.
pub(crate) const HORIZON: i128 = 1 << 62;

/// What is left to spend, in evaluated terms of a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort(u64);

impl Effort {
    /// So many terms may be evaluated.
    pub const fn terms(n: u64) -> Self {
        Effort(n)
    }
    /// This, but no more than `other`.
    pub(crate) fn at_most(self, other: Effort) -> Effort {
        Effort(self.0.min(other.0))
    }
    /// Takes what was spent between `before` and `after`, two states of another effort.
    pub(crate) fn take(&mut self, before: Effort, after: Effort) {
        self.0 = self.0.saturating_sub(before.0 - after.0);
    }
    /// One of so many equal parts.
    pub(crate) fn part(self, parts: usize) -> Effort {
        Effort(self.0 / parts.max(1) as u64)
    }
    /// Whether nothing is left.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Takes `n` terms; false when there is not that much left.
    pub(crate) fn spend(&mut self, n: usize) -> bool {
        let n = n as u64 + 1;
        if self.0 < n {
            self.0 = 0;
            return false;
        }
        self.0 -= n;
        true
    }
}

/// What a whole check may spend on the exact tests of all cores together: some ten milliseconds.
const OF_A_CHECK: u64 = 2_000_000;
/// How often a response looks at each other task on the average, in most systems.
const ROUNDS: u64 = 32;
/// What each step of a search for a remedy may spend, as a part of what the test itself may.
const STEPS_OF_A_SEARCH: u64 = 20;

impl Effort {
    /// The share of one of so many cores.
    pub(crate) fn of_core(cores: usize) -> Self {
        Effort(OF_A_CHECK / cores.max(1) as u64)
    }
    /// The share of one of so many cores, with this many tasks: enough for response times of all of them, of which each looks at the others
    /// again and again.
    pub(crate) fn of_tasks(cores: usize, tasks: usize) -> Self {
        let each = (tasks as u64).saturating_mul(tasks as u64).saturating_mul(ROUNDS);
        Effort(Effort::of_core(cores).0.max(each))
    }
    /// What one step of a search may spend that asks the same question often.
    pub(crate) fn step(self) -> Self {
        Effort(self.0 / STEPS_OF_A_SEARCH)
    }
}

impl Default for Effort {
    /// Enough for 100 tasks on a core at 99 % utilisation with periods of a common clock.
    fn default() -> Self {
        Effort(OF_A_CHECK)
    }
}
