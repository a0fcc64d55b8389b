//! The multiprocessor periodic resource μ = (Π, Θ, m′): Θ of service every Π with parallelism up to m′.
//!
//! Shin, Easwaran and Lee, "Hierarchical scheduling framework for virtual clustering of multiprocessors", ECRTS 2008;
//! Easwaran, Shin and Lee, "Optimal virtual cluster-based multiprocessor scheduling", Real-Time Systems 43, 2009. Least
//! service comes where one period is served at its start and the next at its end, on all m′ at once; in real time, not
//! in slots, this is m′ processors that each give Θ/m′ every Π, and sbf is Shin and Lee's of (Θ, m′Π) at m′t.
//!
//! **Test** (2009, theorem 1, after Baruah's for global EDF; sufficient; D ≤ T): τₖ meets its deadline if for every A ≥ 0,
//! with t = A + Dₖ,
//!
//! ```text
//! Σᵢ Îᵢ + (the m′−1 largest Īᵢ − Îᵢ) + m′·(Cₖ − 1) < sbf(t)
//! Îᵢ = min(dbfᵢ(t), x),  Īᵢ = min(⌊t/Tᵢ⌋Cᵢ + min(Cᵢ, max(0, t mod Tᵢ − Tᵢ + Dᵢ)), x),  x = t − Cₖ + 1   for i ≠ k
//! Îₖ = min(dbfₖ(t) − Cₖ, A),  Īₖ = min(the same − Cₖ, A)
//! ```
//!
//! The print has Cₖ, ≤ and x = t − Cₖ, with which a job without laxity passes whatever the others do (a run of random
//! sets found one). A job that misses does not execute for at least x of t nanoseconds; any x of those see at least
//! sbf(t) − m′(Cₖ − 1) of service, all of it spent on others, at most x on each. That gives the form above.
//!
//! Both sides never fall as A grows, so stretches of A in which the left side at the end is at most the right side at
//! the start pass as a whole; others are halved. That decides every nanosecond below the bound on A.

use crate::effort::{Effort, HORIZON};
use crate::reservation::supply::{Recurring, Supply};
use crate::task::{to_duration, Sporadic};
use crate::utilisation::{Utilisation, ONE};
use tactus_time::Duration;

/// μ = (Π, Θ, m′).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mpr {
    /// Π; greater than zero.
    pub period: Duration,
    /// Θ; at most m′·Π.
    pub budget: Duration,
    /// m′; at least one.
    pub parallelism: u64,
}

impl Mpr {
    /// sbf(t), rounded down.
    pub fn least(&self, window: Duration) -> Duration {
        to_duration(self.sbf(i128::from(window.as_nanos())))
    }

    fn sbf(&self, t: i128) -> i128 {
        let m = i128::from(self.parallelism.max(1));
        let (θ, π) = (i128::from(self.budget.as_nanos()), i128::from(self.period.as_nanos()) * m);
        let t = (t * m - 2 * (π - θ).max(0)).max(0);
        t.div_euclid(π) * θ + θ.min(t.rem_euclid(π))
    }

    /// The same as one virtual processor, where m′ is one.
    pub fn as_recurring(&self) -> Option<Recurring> {
        let blackout = self.period.checked_sub(self.budget)?.checked_mul(2)?;
        (self.parallelism == 1).then_some(Recurring { budget: self.budget, period: self.period, blackout })
    }
}

/// Whether global EDF on μ meets every deadline of the tasks. False where the effort does not do, Σ U ≥ Θ/Π, or a
/// deadline is beyond its period.
pub fn edf_schedulable(tasks: &[Sporadic], μ: &Mpr, effort: &mut Effort) -> bool {
    let fits = |τ: &Sporadic| τ.deadline <= τ.period && τ.jitter.is_zero() && τ.execution <= τ.deadline;
    if let Some(one) = μ.as_recurring() {
        // On one processor the exact test of the supply is sharper.
        use crate::reservation::local::{schedulable, Local};
        return schedulable(tasks, Local::EarliestDeadline, Duration::ZERO, &one as &dyn Supply, effort);
    }
    tasks.iter().all(fits) && (0..tasks.len()).all(|k| meets(tasks, k, μ, effort) == Some(true))
}

fn meets(tasks: &[Sporadic], k: usize, μ: &Mpr, effort: &mut Effort) -> Option<bool> {
    let own = &tasks[k];
    let mut stack = vec![(0, furthest(tasks, own, μ)?)];
    while let Some((from, to)) = stack.pop() {
        if !effort.spend(2 * tasks.len()) {
            return None;
        }
        if asked(tasks, k, to, μ) <= μ.sbf(from + own.d()) {
            continue;
        }
        if asked(tasks, k, from, μ) > μ.sbf(from + own.d()) {
            return Some(false);
        }
        if from == to {
            continue;
        }
        let middle = from + (to - from) / 2;
        stack.push((middle + 1, to));
        stack.push((from, middle));
    }
    Some(true)
}

/// The left side of the test at A.
fn asked(tasks: &[Sporadic], k: usize, a: i128, μ: &Mpr) -> i128 {
    let own = &tasks[k];
    let t = a + own.d();
    // One more than m′(Cₖ − 1), so that ≤ stands for <.
    let mut sum = i128::from(μ.parallelism) * (own.c() - 1) + 1;
    let mut carried: Vec<i128> = Vec::with_capacity(tasks.len());
    for (i, τ) in tasks.iter().enumerate() {
        let due = (1 + (t - τ.d()).div_euclid(τ.t())).max(0) * τ.c();
        let with = t.div_euclid(τ.t()) * τ.c() + τ.c().min((t.rem_euclid(τ.t()) - τ.t() + τ.d()).max(0));
        let (own_work, most) = if i == k { (τ.c(), a) } else { (0, t - own.c() + 1) };
        let (without, with) = ((due - own_work).min(most).max(0), (with - own_work).min(most).max(0));
        sum += without;
        carried.push((with - without).max(0));
    }
    carried.sort_unstable_by(|a, b| b.cmp(a));
    sum + carried.iter().take(μ.parallelism as usize - 1).sum::<i128>()
}

/// From this A on the test holds: ΣUᵢ·t + ΣUᵢ(Tᵢ − Dᵢ) + the m′−1 largest C + m′Cₖ ≤ α(t − Δ). `None` if α ≤ ΣU.
fn furthest(tasks: &[Sporadic], own: &Sporadic, μ: &Mpr) -> Option<i128> {
    let m = i128::from(μ.parallelism);
    let (_, u) = Utilisation::of(tasks.iter().map(|τ| (τ.execution, τ.period))).bracket();
    let u = i128::try_from(u).ok()?;
    let α = i128::from(μ.budget.as_nanos()).checked_mul(ONE)? / i128::from(μ.period.as_nanos());
    if α <= u {
        return None;
    }
    let mut largest: Vec<i128> = tasks.iter().map(Sporadic::c).collect();
    largest.sort_unstable_by(|a, b| b.cmp(a));
    let beyond: i128 = tasks.iter().map(|τ| -((-(τ.c() * (τ.t() - τ.d()))).div_euclid(τ.t()))).sum();
    // αΔ = Θ/Π · 2(Π − Θ/m′) ≤ 2Θ.
    let constant =
        beyond + largest.iter().take(m as usize - 1).sum::<i128>() + m * own.c() + 2 * i128::from(μ.budget.as_nanos());
    // In steps of 2⁻²⁰ this stays within 128 bits for times of days.
    let t = (constant.checked_mul(1 << 40)? / ((α - u) >> 20).max(1)).checked_add(1)?;
    (t < HORIZON).then_some((t - own.d()).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(n: u64) -> Duration {
        Duration::from_nanos(n)
    }

    /// Easwaran, Shin and Lee 2009, equation 3, in slots; its last case is meant for β > 0.
    fn printed(p: i128, θ: i128, m: i128, t: i128) -> i128 {
        let (α, first) = (θ / m, -(-θ).div_euclid(m));
        let β = θ - m * α;
        let late = t - (p - first);
        if late < 0 {
            return 0;
        }
        let x = late - p * (late / p);
        let served = (late / p) * θ + (m * x - (m * p - θ)).max(0);
        if (1..=p - α).contains(&x) || β == 0 {
            served
        } else {
            served - (m - β)
        }
    }

    #[test]
    fn the_supply_equals_the_printed_one_where_slots_do_not_matter() {
        for (p, θ, m) in [(5, 6, 2), (10, 12, 3), (4, 8, 4), (7, 14, 2), (5, 7, 2), (10, 11, 3)] {
            let μ = Mpr { period: ns(p), budget: ns(θ), parallelism: m };
            for t in 0..50 {
                let expected = printed(p.into(), θ.into(), m.into(), t.into()).max(0);
                let ours = i128::from(μ.least(ns(t)).as_nanos());
                if θ % m == 0 {
                    assert_eq!(ours, expected, "{μ:?} at {t}");
                } else {
                    assert!(ours <= expected, "{μ:?} at {t}: whole slots give no less");
                }
            }
        }
    }

    #[test]
    fn a_job_without_laxity_is_not_accepted_beside_as_many_others_as_processors() {
        let task = |(c, t, d)| Sporadic::new(ns(c), ns(t), ns(d));
        let tasks = [(4, 20, 19), (6, 30, 24), (15, 40, 25), (54, 60, 54)].map(task);
        let μ = Mpr { period: ns(10), budget: ns(30), parallelism: 3 };
        assert!(!edf_schedulable(&tasks, &μ, &mut Effort::default()));
    }

    #[test]
    fn enough_service_is_accepted_and_too_little_is_not() {
        let tasks: Vec<_> = (0..6).map(|_| Sporadic::implicit(ns(100), ns(1000))).collect();
        let test = |θ| {
            let μ = Mpr { period: ns(100), budget: ns(θ), parallelism: 2 };
            edf_schedulable(&tasks, &μ, &mut Effort::default())
        };
        assert!(test(150) && !test(60));
    }
}
