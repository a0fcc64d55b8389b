//! Exact response times under fixed priorities without preemption, on one processor.
//!
//! Davis, Burns, Bril and Lukkien, "Controller Area Network (CAN) schedulability analysis: refuted, revisited and
//! revised", Real-Time Systems 35, 2007, section 3 (their correction: every job of the level-i busy period counts,
//! not only the first). Time is discrete here, one nanosecond, so a less urgent job started at least one nanosecond
//! before and blocks for C − 1 (George, Rivierre and Spuri, INRIA RR-2966, 1996), and a job released at the very
//! instant of a start is seen. In their symbols, for job q = 0, 1, …:
//!
//! ```text
//! Bᵢ   = max_{k ∈ lp(i)} (Cₖ − 1)
//! w(q) = Bᵢ + q·Cᵢ + Σ_{j ∈ hp(i)} (⌊(w(q) + Jⱼ)/Tⱼ⌋ + 1)·Cⱼ
//! Rᵢ   = max_q ( Jᵢ + w(q) − q·Tᵢ + Cᵢ )      over the jobs of the busy period
//! ```
//!
//! Assumptions: independent tasks that do not suspend themselves, on a processor that serves them alone. Exact for
//! sporadic tasks: it is met when all more urgent tasks are released together right after a longest less urgent
//! start.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, Sporadic};
use crate::uniprocessor::overloaded;
use tactus_time::Duration;

/// The worst-case response time of `task`, above `lower` and below `higher` (equal priorities count as higher).
///
/// `None` where the busy period does not end or the effort did not do.
pub fn response(task: &Sporadic, higher: &[Sporadic], lower: &[Sporadic], effort: &mut Effort) -> Option<Duration> {
    if overloaded(higher.iter().chain([task])) {
        return None;
    }
    let b = lower.iter().map(|τ| τ.c() - 1).max().unwrap_or(0).max(0);
    let mut busy = b + task.c();
    loop {
        if busy > HORIZON || !effort.spend(higher.len() + 1) {
            return None;
        }
        let next = b + higher.iter().chain([task]).map(|τ| ceil_div(busy + τ.j(), τ.t()) * τ.c()).sum::<i128>();
        if next <= busy {
            break;
        }
        busy = next;
    }
    let jobs = ceil_div(busy + task.j(), task.t());
    let (mut worst, mut w) = (0, b);
    for q in 0..jobs {
        // w(q) ≥ w(q − 1) + C: a start below the fixed point.
        w += if q == 0 { 0 } else { task.c() };
        loop {
            if w > HORIZON || !effort.spend(higher.len()) {
                return None;
            }
            let others: i128 = higher.iter().map(|τ| ((w + τ.j()).div_euclid(τ.t()) + 1) * τ.c()).sum();
            let next = b + q * task.c() + others;
            if next <= w {
                break;
            }
            w = next;
        }
        worst = worst.max(task.j() + w - q * task.t() + task.c());
    }
    Some(to_duration(worst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_that_refuted_the_old_analysis_is_late() {
        // Davis et al. 2007, table 2: C = 1 ms each; T = 2.5, 3.5, 3.5; D = 2.5, 3.25, 3.25. The second job of the third
        // message responds in 3.5 ms; the original analysis promised 3.
        let us = Duration::from_micros;
        let tasks = [(2500, 2500), (3500, 3250), (3500, 3250)].map(|(t, d)| Sporadic::new(us(1000), us(t), us(d)));
        let r = |i: usize| response(&tasks[i], &tasks[..i], &tasks[i + 1..], &mut Effort::default()).unwrap();
        let ns = Duration::from_nanos;
        assert_eq!([r(0) + ns(1), r(1) + ns(1), r(2)], [us(2000), us(3000), us(3500)]);
    }
}
