//! Two criticality levels on one processor: what is promised while nobody overruns, and what when critical tasks do.
//!
//! A task has a time C(LO) that it is designed for, and a critical (HI) one also a more careful C(HI) ≥ C(LO); jobs of the
//! others never get more than C(LO). All tests: constrained sporadic tasks, preemptive, independent, budgets enforced.
//! [`smc`] never drops a task; [`amc_rtb`] and [`amc_max`] drop the less critical ones once a HI job has executed for
//! C(LO) without ending, until the processor is idle; [`edf_vd`] does so under EDF with shortened deadlines. MC² with its
//! four levels is in [`crate::mc2`].

pub mod amc_max;
pub mod amc_rtb;
pub mod edf_vd;
pub mod priorities;
pub mod smc;

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration};
use tactus_time::Duration;

/// A task with two criticality levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dual {
    /// C(LO): the longest time in the LO mode; for a less critical task the budget it is held to.
    pub low: Duration,
    /// C(HI) of a critical task, at least C(LO); not looked at for others.
    pub high: Duration,
    /// T: the least time between arrivals; greater than zero.
    pub period: Duration,
    /// D: the relative deadline, at most T.
    pub deadline: Duration,
    /// Whether it is of level HI.
    pub critical: bool,
}

/// Response-time bounds of one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promise {
    /// While no HI job has exceeded its C(LO).
    pub low: Option<Duration>,
    /// Whatever HI jobs take up to C(HI); for a critical task only.
    pub high: Option<Duration>,
}

impl Promise {
    /// Whether all that the task is owed holds by its deadline.
    pub fn keeps(&self, τ: &Dual) -> bool {
        let in_time = |r: Option<Duration>| r.is_some_and(|r| r <= τ.deadline);
        τ.deadline <= τ.period && in_time(self.low) && (!τ.critical || in_time(self.high))
    }
}

impl Dual {
    pub(crate) fn c_low(&self) -> i128 {
        i128::from(self.low.as_nanos())
    }
    pub(crate) fn c_high(&self) -> i128 {
        i128::from(self.high.max(self.low).as_nanos())
    }
    pub(crate) fn t(&self) -> i128 {
        i128::from(self.period.as_nanos())
    }
    pub(crate) fn d(&self) -> i128 {
        i128::from(self.deadline.as_nanos())
    }
}

/// R(LO): the response while every job keeps to C(LO). `None` over the deadline, which ends the search.
fn low_response(τ: &Dual, higher: &[Dual], effort: &mut Effort) -> Option<i128> {
    fixed_point(τ, τ.c_low(), higher.len(), effort, |r| {
        higher.iter().map(|h| ceil_div(r, h.t()) * h.c_low()).sum::<i128>()
    })
}

/// The least r = own + others(r), if at most the deadline.
fn fixed_point(τ: &Dual, own: i128, terms: usize, effort: &mut Effort, others: impl Fn(i128) -> i128) -> Option<i128> {
    let mut r = own.max(1);
    loop {
        if r > τ.d().min(HORIZON) || !effort.spend(terms) {
            return None;
        }
        let next = own + others(r);
        if next <= r {
            return Some(r);
        }
        r = next;
    }
}

/// Promises of all tasks, the most urgent first; `high` bounds a critical one from its R(LO).
fn all(
    tasks: &[Dual],
    effort: &mut Effort,
    mut high: impl FnMut(usize, i128, &mut Effort) -> Option<i128>,
) -> Vec<Promise> {
    let mut promises: Vec<Promise> = Vec::with_capacity(tasks.len());
    // A bound may count on more urgent critical tasks being in time.
    let mut sound = true;
    for (i, τ) in tasks.iter().enumerate() {
        let low = low_response(τ, &tasks[..i], effort);
        let high = match low {
            Some(low) if τ.critical && sound => high(i, low, effort).map(|r| r.max(low)),
            _ => None,
        };
        let promise = Promise { low: low.map(to_duration), high: high.map(to_duration) };
        sound &= !τ.critical || promise.keeps(τ);
        promises.push(promise);
    }
    promises
}
