//! A task set laid out for tests that are asked millions of times.
//!
//! One array per parameter, in whole nanoseconds held as doubles. Doubles hold whole numbers up to 2⁵³ ns (104 days)
//! exactly, and their sums, differences and products as long as they stay below that, so that tests of whole numbers remain exact.
//! Where a test divides, it compares with [`MARGIN`] against the set: a set at the very limit may be refused,
//! a set beyond it is never accepted.

use crate::task::Sporadic;

/// Relative distance from a limit within which a divided number counts as beyond it. The error of a sum of n rounded
/// quotients is below n·2⁻⁵², so this covers a thousand tasks four times over.
pub const MARGIN: f64 = 1e-12;

/// The longest parameter, so that sums over a thousand tasks stay exact: 2⁴³ ns, two and a half hours.
pub const LONGEST: u64 = 1 << 43;

/// Adding and taking away 1.5·2⁵² rounds a number below 2⁵¹ to the nearest whole one.
pub(crate) const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// A set of sporadic tasks: c execution, t period, d deadline.
#[derive(Clone, Debug, Default)]
pub struct Set {
    /// C, ns.
    pub c: Vec<f64>,
    /// T, ns.
    pub t: Vec<f64>,
    /// D, ns.
    pub d: Vec<f64>,
    /// C/T, rounded to nearest.
    pub u: Vec<f64>,
    /// 1/T, rounded to nearest.
    pub per_t: Vec<f64>,
    constrained: bool,
    implicit: bool,
    possible: bool,
    total: f64,
    density: f64,
    max_density: f64,
}

impl Set {
    /// An empty set.
    pub fn new() -> Self {
        Set { constrained: true, implicit: true, possible: true, ..Set::default() }
    }

    /// The set of these tasks. Jitter is not part of the model: a task that has it makes the set impossible.
    pub fn of<'t>(tasks: impl IntoIterator<Item = &'t Sporadic>) -> Self {
        let mut set = Set::new();
        for τ in tasks {
            set.push(τ.execution.as_nanos(), τ.period.as_nanos(), τ.deadline.as_nanos());
            set.possible &= τ.jitter.is_zero();
        }
        set
    }

    /// Takes all tasks out and keeps the memory.
    pub fn clear(&mut self) {
        for column in [&mut self.c, &mut self.t, &mut self.d, &mut self.u, &mut self.per_t] {
            column.clear();
        }
        (self.constrained, self.implicit, self.possible) = (true, true, true);
        (self.total, self.density, self.max_density) = (0.0, 0.0, 0.0);
    }

    /// Adds a task; lengths in nanoseconds.
    pub fn push(&mut self, c: u64, t: u64, d: u64) {
        // Also refuses what is zero or too long to be exact.
        self.possible &= 0 < c && c <= t.min(d) && t <= LONGEST && d <= LONGEST;
        self.constrained &= d <= t;
        self.implicit &= d == t;
        let (c, t, d) = (c as f64, t.max(1) as f64, d.max(1) as f64);
        self.c.push(c);
        self.t.push(t);
        self.d.push(d);
        self.u.push(c / t);
        self.per_t.push(1.0 / t);
        self.total += c / t;
        let density = c / d.min(t);
        self.density += density;
        self.max_density = self.max_density.max(density);
    }

    /// How many tasks.
    pub fn len(&self) -> usize {
        self.c.len()
    }
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.c.is_empty()
    }
    /// Whether every deadline is at most the period.
    pub fn constrained(&self) -> bool {
        self.constrained
    }
    /// Whether every deadline is the period.
    pub fn implicit(&self) -> bool {
        self.implicit
    }
    /// Whether 0 < C ≤ min(D, T) for every task and nothing is too long; without that no test accepts.
    pub fn possible(&self) -> bool {
        self.possible
    }
    /// ΣC/T, rounded.
    pub fn utilisation(&self) -> f64 {
        self.total
    }
    /// ΣC/min(D, T), rounded.
    pub fn density(&self) -> f64 {
        self.density
    }
    /// The largest C/min(D, T), rounded.
    pub fn max_density(&self) -> f64 {
        self.max_density
    }
    /// Puts all absolute deadlines D + n·T in [from, to) that are at most `end` into `points`.
    pub(crate) fn deadlines(&self, from: f64, to: f64, end: f64, points: &mut Vec<f64>) {
        points.clear();
        for (&t, &d) in self.t.iter().zip(&self.d) {
            let mut at = d + ((from - d) / t).ceil().max(0.0) * t;
            while at < to && at <= end {
                points.push(at);
                at += t;
            }
        }
    }
    /// The longest period.
    pub(crate) fn longest_period(&self) -> f64 {
        self.t.iter().copied().fold(0.0, f64::max)
    }
    /// What every test asks first: the set is possible and ΣU is not above m.
    pub fn fits(&self, m: usize) -> bool {
        self.possible && self.total <= m as f64 * (1.0 + MARGIN)
    }
}

/// Whether left ≤ right beyond doubt; both are rounded.
pub(crate) fn at_most(left: f64, right: f64) -> bool {
    left <= right - MARGIN * right.abs().max(left.abs())
}

/// The lesser of two numbers: one instruction, where `f64::min` also looks for what is no number.
#[inline(always)]
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    if a < b {
        a
    } else {
        b
    }
}

/// The greater of two numbers.
#[inline(always)]
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a > b {
        a
    } else {
        b
    }
}

/// The sum of whole numbers. It is exact in any order, so it is taken in four strands, which a processor adds side by side.
pub(crate) fn sum(values: &[f64]) -> f64 {
    let mut strands = [0.0; 4];
    let fours = values.chunks_exact(4);
    let rest: f64 = fours.remainder().iter().sum();
    for four in fours {
        for (strand, value) in strands.iter_mut().zip(four) {
            *strand += value;
        }
    }
    strands.iter().sum::<f64>() + rest
}
