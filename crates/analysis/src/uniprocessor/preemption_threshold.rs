//! Response times under fixed priorities with preemption thresholds, on one processor.
//!
//! Wang and Saksena, "Scheduling fixed-priority tasks with preemption threshold", RTCSA 1999: once a job has begun, only tasks of
//! a priority above its threshold γᵢ ≥ πᵢ preempt it. A job may be blocked once, by a less urgent one that has begun and whose
//! threshold reaches it; it waits until it starts for everybody more urgent, and then only for those above its threshold. All
//! jobs of the level-i active period count, not only the first (Regehr, "Scheduling tasks with mixed preemption relations for
//! robustness to timing faults", RTSS 2002; Bril, Lukkien and Verhaegh, Real-Time Systems 42, 2009). For job q = 0, 1, …:
//!
//! ```text
//! L    = Bᵢ + Σ_{j ∈ hp(i) ∪ {i}} ⌈(L + Jⱼ)/Tⱼ⌉·Cⱼ + withheld(L)
//! s(q) = Bᵢ + q·Cᵢ + Σ_{j ∈ hp(i)} (⌊(s + Jⱼ)/Tⱼ⌋ + 1)·Cⱼ + withheld(s)
//! f(q) = Bᵢ + (q+1)·Cᵢ + Σ_{πⱼ > γᵢ} ⌈(f + Jⱼ)/Tⱼ⌉·Cⱼ + Σ_{πᵢ < πⱼ ≤ γᵢ} (⌊(s + Jⱼ)/Tⱼ⌋ + 1)·Cⱼ + withheld(f)
//! Rᵢ   = max_q ( Jᵢ + f(q) − q·Tᵢ )      over the jobs of L
//! ```
//!
//! Sufficient. Exact is Bᵢ less the shortest time (Keskin, Bril and Lukkien, ETFA 2010); the papers' own figures are met with Bᵢ.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, withheld_terms, Sporadic, Withheld};
use crate::terms::{Source, Term, Terms};
use crate::uniprocessor::{busy_period, overloaded};
use tactus_time::Duration;

/// The worst-case response time of `task` below the tasks `higher` (equal priorities count as higher), of which the first
/// `preempting` are above its threshold.
///
/// `None` where the active period does not end (overload), or the effort did not do.
pub fn response(
    task: &Sporadic,
    (higher, preempting): (&[Sporadic], usize),
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    Some(to_duration(worst(task, (higher, preempting), blocking, processor, effort)?.response))
}

/// The terms of [`response`]; tasks are counted by their places in `higher`.
pub fn terms(
    task: &Sporadic,
    (higher, preempting): (&[Sporadic], usize),
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Terms> {
    let Worst { job, start, end, .. } = worst(task, (higher, preempting), blocking, processor, effort)?;
    let other = |(j, τ): (usize, &Sporadic)| {
        let times = if j < preempting { arrivals_before(τ, end) } else { arrivals_until(τ, start) };
        Term::new(Source::Other(j), times, τ.c())
    };
    let own = [
        Term::new(Source::Own, job + 1, task.c()),
        Term::once(Source::Blocking(None), i128::from(blocking.as_nanos())),
        Term::once(Source::Jitter, task.j()),
        Term::once(Source::Arrival, job * task.t()),
    ];
    let others = higher.iter().enumerate().map(other);
    Some(Terms::response(end, own.into_iter().chain(others).chain(withheld_terms(processor, end)).collect()))
}

/// How many jobs arrive up to an instant.
fn arrivals_until(τ: &Sporadic, t: i128) -> i128 {
    (t + τ.j()).div_euclid(τ.t()) + 1
}

/// How many jobs arrive before it.
fn arrivals_before(τ: &Sporadic, t: i128) -> i128 {
    ceil_div(t + τ.j(), τ.t())
}

/// The job with the longest response.
struct Worst {
    response: i128,
    /// q.
    job: i128,
    /// s(q).
    start: i128,
    /// f(q).
    end: i128,
}

fn worst(
    task: &Sporadic,
    (higher, preempting): (&[Sporadic], usize),
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Worst> {
    if overloaded(higher.iter().chain([task])) {
        return None;
    }
    let b = i128::from(blocking.as_nanos());
    let all: Vec<Sporadic> = higher.iter().chain([task]).copied().collect();
    let active = busy_period(&all, b, processor, effort)?;
    let (above, kept_off) = higher.split_at(preempting.min(higher.len()));
    let until = |of: &[Sporadic], t: i128| of.iter().map(|τ| arrivals_until(τ, t) * τ.c()).sum::<i128>();
    let before = |of: &[Sporadic], t: i128| of.iter().map(|τ| arrivals_before(τ, t) * τ.c()).sum::<i128>();
    let mut worst = Worst { response: 0, job: 0, start: b, end: b };
    let mut start = b;
    for q in 0..ceil_div(active + task.j(), task.t()) {
        start =
            fixed_point(start, higher.len(), effort, |s| b + q * task.c() + until(higher, s) + withheld(processor, s))?;
        let waited = b + (q + 1) * task.c() + until(kept_off, start);
        let end = fixed_point(start + task.c(), higher.len(), effort, |f| {
            waited + before(above, f) + withheld(processor, f)
        })?;
        let response = task.j() + end - q * task.t();
        if response > worst.response {
            worst = Worst { response, job: q, start, end };
        }
    }
    Some(worst)
}

/// The least fixed point of a sum that grows, from a start below it.
pub(super) fn fixed_point(from: i128, terms: usize, effort: &mut Effort, sum: impl Fn(i128) -> i128) -> Option<i128> {
    let mut at = from;
    loop {
        if at > HORIZON || !effort.spend(terms + 1) {
            return None;
        }
        let next = sum(at);
        if next <= at {
            return Some(at);
        }
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Wang and Saksena 1999, tables 1 and 2: (C, T, D) = (20, 70, 50), (20, 80, 80), (35, 200, 100).
    fn published() -> Vec<Sporadic> {
        [(20, 70, 50), (20, 80, 80), (35, 200, 100)].map(|(c, t, d)| Sporadic::new(ms(c), ms(t), ms(d))).to_vec()
    }

    /// By task: how many of those before it may preempt it once it has begun.
    fn responses(preempting: [usize; 3]) -> Vec<Option<Duration>> {
        let tasks = published();
        let blocking = |i: usize| {
            let below = (i + 1..3).filter(|k| i >= preempting[*k]).map(|k| tasks[k].execution);
            below.max().unwrap_or(Duration::ZERO)
        };
        let one = |i: usize| {
            response(&tasks[i], (&tasks[..i], preempting[i]), blocking(i), &Dedicated, &mut Effort::default())
        };
        (0..3).map(one).collect()
    }

    #[test]
    fn the_published_example_is_in_time_with_thresholds_alone() {
        let of = |all: [u64; 3]| all.map(|r| Some(ms(r))).to_vec();
        // Fully preemptive, not preemptive at all, thresholds 3, 3 and 2 for priorities 3, 2 and 1.
        assert_eq!(responses([0, 1, 2]), of([20, 40, 115]));
        assert_eq!(responses([0, 0, 0]), of([55, 75, 75]));
        assert_eq!(responses([0, 0, 1]), of([40, 75, 95]));
    }

    #[test]
    fn without_preemption_it_is_no_less_than_the_exact_bound_and_a_nanosecond_more_at_most() {
        let tasks = [(2500, 2500), (3500, 3250), (3500, 3250)].map(|(t, d)| {
            Sporadic::new(Duration::from_micros(1000), Duration::from_micros(t), Duration::from_micros(d))
        });
        for i in 0..3 {
            let exact = crate::uniprocessor::nonpreemptive_fp::response(
                &tasks[i],
                &tasks[..i],
                &tasks[i + 1..],
                &mut Effort::default(),
            );
            let blocking = if i < 2 { Duration::from_micros(1000) } else { Duration::ZERO };
            let own = response(&tasks[i], (&tasks[..i], 0), blocking, &Dedicated, &mut Effort::default());
            let (exact, own) = (exact.expect("it ends"), own.expect("it ends"));
            assert!(own >= exact && own <= exact + Duration::from_nanos(1), "{i}: {own} and {exact}");
        }
    }
}
