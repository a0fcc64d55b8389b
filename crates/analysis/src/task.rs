//! The sporadic task in the field's symbols, as every test here takes it.

use crate::terms::{Source, Term};
use tactus_time::Duration;

/// A sporadic task τ = (C, T, D, J).
///
/// Jobs arrive at least T apart; each is released within J of its arrival, executes for at most C and should end
/// within D of its arrival. A strictly periodic task is a sporadic one, so every bound for this model holds for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sporadic {
    /// C: the longest execution time of a job.
    pub execution: Duration,
    /// T: the shortest time between arrivals; greater than zero.
    pub period: Duration,
    /// D: the deadline relative to the arrival; may be longer than the period.
    pub deadline: Duration,
    /// J: the longest time from arrival to release.
    pub jitter: Duration,
}

impl Sporadic {
    /// A task with deadline = period and no jitter.
    pub const fn implicit(execution: Duration, period: Duration) -> Self {
        Sporadic { execution, period, deadline: period, jitter: Duration::ZERO }
    }
    /// A task without jitter.
    pub const fn new(execution: Duration, period: Duration, deadline: Duration) -> Self {
        Sporadic { execution, period, deadline, jitter: Duration::ZERO }
    }
    pub(crate) const fn c(&self) -> i128 {
        self.execution.as_nanos() as i128
    }
    pub(crate) const fn t(&self) -> i128 {
        self.period.as_nanos() as i128
    }
    pub(crate) const fn d(&self) -> i128 {
        self.deadline.as_nanos() as i128
    }
    pub(crate) const fn j(&self) -> i128 {
        self.jitter.as_nanos() as i128
    }
}

/// Time that a processor withholds from the tasks under study: the system's own work, tables of a more critical
/// level.
pub trait Withheld {
    /// The most that is withheld in any window of this length. Does not fall as the window grows.
    fn at_most(&self, window: Duration) -> Duration;

    /// The same, by what takes it; the terms add up to [`Withheld::at_most`].
    fn terms(&self, window: Duration) -> Vec<Term> {
        vec![Term::once(Source::Withheld, i128::from(self.at_most(window).as_nanos()))]
    }
}

/// A processor that serves the tasks under study alone.
pub struct Dedicated;

impl Withheld for Dedicated {
    fn at_most(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

/// The most that is withheld in a window of `w` nanoseconds.
pub(crate) fn withheld(processor: &dyn Withheld, w: i128) -> i128 {
    i128::from(processor.at_most(to_duration(w)).as_nanos())
}

/// The terms of what is withheld in a window of `w` nanoseconds.
pub(crate) fn withheld_terms(processor: &dyn Withheld, w: i128) -> Vec<Term> {
    processor.terms(to_duration(w))
}

/// The length as a duration, at most [`Duration::MAX`].
pub(crate) fn to_duration(n: i128) -> Duration {
    Duration::from_nanos(u64::try_from(n.max(0)).unwrap_or(u64::MAX))
}

/// ⌈a / b⌉ for positive b.
pub(crate) const fn ceil_div(a: i128, b: i128) -> i128 {
    if a > 0 {
        floor_div(a - 1, b) + 1
    } else {
        -((-a) / b)
    }
}

/// ⌊a / b⌋ for positive b and a of at least 0. Times mostly fit into 64 bits, for which processors have a division.
pub(crate) const fn floor_div(a: i128, b: i128) -> i128 {
    const MOST: i128 = u64::MAX as i128;
    if a <= MOST && b <= MOST {
        (a as u64 / b as u64) as i128
    } else {
        a / b
    }
}
