//! Virtual platforms of several processors: Yₖ(t), and who meets deadlines on them.
//!
//! Lipari and Bini, "A framework for hierarchical scheduling on multiprocessors: from application requirements to
//! run-time allocation", RTSS 2010; Bini, Bertogna and Baruah, "Virtual multiprocessor platforms: specification and use",
//! RTSS 2009. Yₖ(t) is the least service in any window t with parallelism counted up to k. On m virtual processors
//! with supply functions Z₁ … Zₘ, unsynchronised, the k best give Yₖ(t) ≥ the sum of the k largest Zᵢ(t).
//!
//! **Test** (companion of the bounded-delay platform; sufficient): τᵢ meets its deadline if for some k
//!
//! ```text
//! k·Cᵢ + Wᵢ ≤ Yₖ(Dᵢ)
//! fixed priorities: Wᵢ = Σ_{j ∈ hp(i)} N·Cⱼ + min(Cⱼ, Dᵢ + Dⱼ − Cⱼ − N·Tⱼ),  N = ⌊(Dᵢ + Dⱼ − Cⱼ)/Tⱼ⌋
//! EDF:              Wᵢ = Σ_{j ≠ i}     N·Cⱼ + min(Cⱼ, max(0, Dᵢ − N·Tⱼ)),    N = max(0, ⌊(Dᵢ − Dⱼ)/Tⱼ⌋ + 1)
//! ```
//!
//! Why it holds: a job that misses executes for less than Cᵢ, so at most k·Cᵢ of the service counted in Yₖ passes
//! beside it while it runs; all other service goes to more urgent work. Assumes D ≤ T, that the tasks counted in Wᵢ
//! meet their own deadlines (which the tests of all tasks together show), and a work-conserving global scheduler.

use crate::reservation::supply::Supply;
use crate::task::{to_duration, Sporadic};
use tactus_time::Duration;

pub use crate::reservation::local::Local;

/// A virtual platform: one supply per virtual processor.
pub struct Platform<'s>(pub Vec<&'s dyn Supply>);

impl Platform<'_> {
    /// Yₖ(t).
    pub fn least(&self, k: usize, window: Duration) -> Duration {
        let mut each: Vec<Duration> = self.0.iter().map(|z| z.least(window)).collect();
        each.sort_unstable_by(|a, b| b.cmp(a));
        each.into_iter().take(k).fold(Duration::ZERO, |sum, z| sum.checked_add(z).unwrap_or(Duration::MAX))
    }
}

/// What the test compares for one task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comparison {
    /// Parallelism.
    pub k: usize,
    /// k·C + W.
    pub asked: Duration,
    /// Yₖ(D).
    pub given: Duration,
}

impl Comparison {
    /// Whether the task passes with this k.
    pub fn holds(&self) -> bool {
        self.asked <= self.given
    }
}

/// All comparisons of task `i`, for k = 1 … m. `tasks`: the most urgent first under fixed priorities.
pub fn comparisons(tasks: &[Sporadic], i: usize, policy: Local, platform: &Platform) -> Vec<Comparison> {
    let own = &tasks[i];
    let w: i128 = match policy {
        Local::FixedPriority => tasks[..i].iter().map(|τ| carried_in(τ, own.d())).sum(),
        Local::EarliestDeadline => {
            tasks.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, τ)| before_deadline(τ, own.d())).sum()
        }
    };
    let one = |k: usize| Comparison {
        k,
        asked: to_duration(k as i128 * own.c() + w),
        given: platform.least(k, own.deadline),
    };
    (1..=platform.0.len()).map(one).collect()
}

/// The most work of τ in a window d in which it meets its deadlines.
fn carried_in(τ: &Sporadic, d: i128) -> i128 {
    let x = d + τ.d() - τ.c();
    let n = x.div_euclid(τ.t());
    n * τ.c() + τ.c().min(x - n * τ.t())
}

/// The most work of τ with deadlines up to the end of a window d.
fn before_deadline(τ: &Sporadic, d: i128) -> i128 {
    let n = ((d - τ.d()).div_euclid(τ.t()) + 1).max(0);
    n * τ.c() + τ.c().min((d - n * τ.t()).max(0))
}

/// The least k with which each task passes; `None` for a task that passes with none, or whose deadline is beyond its
/// period. The promise of a task holds if all tasks pass.
pub fn passes(tasks: &[Sporadic], policy: Local, platform: &Platform) -> Vec<Option<usize>> {
    let one = |i: usize| {
        (tasks[i].deadline <= tasks[i].period && tasks[i].jitter.is_zero()).then_some(())?;
        comparisons(tasks, i, policy, platform).iter().find(|c| c.holds()).map(|c| c.k)
    };
    (0..tasks.len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservation::supply::BoundedDelay;

    fn tasks(list: &[(u64, u64)]) -> Vec<Sporadic> {
        list.iter().map(|&(c, t)| Sporadic::implicit(Duration::from_millis(c), Duration::from_millis(t))).collect()
    }

    /// The comparison of each task in tenths of a millisecond: (k, asked, given).
    fn tenths(tasks: &[Sporadic], percent: u64, i: usize, k: usize) -> (u64, u64) {
        let ns = Duration::from_nanos;
        let vp = BoundedDelay { share: (ns(percent), ns(100)), delay: Duration::from_millis(20) };
        let platform = Platform(vec![&vp, &vp]);
        let c = comparisons(tasks, i, Local::FixedPriority, &platform)[k - 1];
        (c.asked.as_nanos() / 100_000, c.given.as_nanos() / 100_000)
    }

    #[test]
    fn the_juniper_tasks_pass_as_published_and_one_processor_does_not_do_for_tasks_2_3_and_5() {
        let y1 = tasks(&[(10, 60), (140, 270), (90, 520)]);
        let y2 = tasks(&[(40, 270), (40, 520)]);
        assert_eq!(tenths(&y1, 72, 0, 1), (100, 288), "10 ≤ 28.8");
        assert_eq!(tenths(&y1, 72, 1, 2), (3400, 3600), "340 ≤ 360");
        assert_eq!(tenths(&y1, 72, 2, 2), (6700, 7200), "670 ≤ 720");
        assert_eq!(tenths(&y2, 22, 0, 1), (400, 550), "40 ≤ 55");
        assert_eq!(tenths(&y2, 22, 1, 2), (2000, 2200), "200 ≤ 220");
        for (asked, given) in [tenths(&y1, 72, 1, 1), tenths(&y1, 72, 2, 1), tenths(&y2, 22, 1, 1)] {
            assert!(asked > given, "{asked} > {given}");
        }
    }
}
