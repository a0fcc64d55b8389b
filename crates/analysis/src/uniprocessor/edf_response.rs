//! Worst-case response times under preemptive earliest deadline first on one processor.
//!
//! Spuri, "Analysis of deadline scheduled real-time systems", INRIA RR-2772, 1996. The worst response of τᵢ is found
//! in a busy period in which all other tasks are released together at its start and as fast as possible. For a job
//! that arrives at a (its deadline at a + Dᵢ), in Spuri's symbols:
//!
//! ```text
//! Wᵢ(a,t) = Σ_{j≠i, Dⱼ ≤ a+Dᵢ+Jⱼ} min( ⌈(t + Jⱼ)/Tⱼ⌉, 1 + ⌊(a + Dᵢ − Dⱼ + Jⱼ)/Tⱼ⌋ )·Cⱼ
//! Lᵢ(a)   = B + Wᵢ(a, Lᵢ(a)) + (1 + ⌊(a + Jᵢ)/Tᵢ⌋)·Cᵢ + withheld(Lᵢ(a))
//! Rᵢ      = max_a ( Lᵢ(a) − a )
//! ```
//!
//! over a in ∪ⱼ { kTⱼ − Jⱼ + Dⱼ − Dᵢ } within [−Jᵢ, L), L the longest busy period. Ties are broken against τᵢ.
//! Assumptions as for [`crate::uniprocessor::edf_demand`]; deadlines may be longer or shorter than periods.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, withheld, Sporadic, Withheld};
use crate::uniprocessor::busy_period;
use tactus_time::Duration;

/// The response-time bound of every task. `None` where the busy period does not end or the effort did not do.
pub fn responses(
    tasks: &[Sporadic],
    blocking: Duration,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    let b = i128::from(blocking.as_nanos());
    let l = busy_period(tasks, b, processor, effort)?;
    (0..tasks.len()).map(|i| response(tasks, i, b, l, processor, effort)).collect()
}

fn response(
    tasks: &[Sporadic],
    i: usize,
    b: i128,
    l: i128,
    processor: &dyn Withheld,
    effort: &mut Effort,
) -> Option<Duration> {
    let own = &tasks[i];
    let mut worst = b + own.c() + own.j();
    let mut finish = (b + own.c()).max(1);
    for a in arrivals_to_try(tasks, own, l, effort)? {
        let jobs = 1 + (a + own.j()).div_euclid(own.t());
        // Lᵢ(a) does not fall as a grows, so the last one is a start below this fixed point.
        loop {
            if finish > HORIZON || !effort.spend(tasks.len()) {
                return None;
            }
            let mut next = b + jobs * own.c() + withheld(processor, finish);
            for (j, τ) in tasks.iter().enumerate() {
                let reach = a + own.d() - τ.d() + τ.j();
                if j != i && reach >= 0 {
                    next += ceil_div(finish + τ.j(), τ.t()).min(1 + reach / τ.t()) * τ.c();
                }
            }
            if next <= finish {
                break;
            }
            finish = next;
        }
        worst = worst.max(finish - a);
    }
    Some(to_duration(worst))
}

/// The arrivals a at which Lᵢ(a) − a can be largest, ascending.
pub(crate) fn arrivals_to_try(tasks: &[Sporadic], own: &Sporadic, l: i128, effort: &mut Effort) -> Option<Vec<i128>> {
    let first = -own.j();
    let mut arrivals = vec![first];
    for τ in tasks {
        let shift = τ.d() - own.d() - τ.j();
        let mut k = ceil_div(first - shift, τ.t()).max(0);
        while shift + k * τ.t() < l {
            if !effort.spend(1) {
                return None;
            }
            arrivals.push(shift + k * τ.t());
            k += 1;
        }
    }
    arrivals.sort_unstable();
    arrivals.dedup();
    Some(arrivals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Dedicated;

    #[test]
    fn the_three_task_example_meets_its_deadlines_under_edf() {
        let ms = Duration::from_millis;
        let tasks = [(2, 10), (5, 15), (10, 25)].map(|(c, t)| Sporadic::implicit(ms(c), ms(t)));
        let r = responses(&tasks, Duration::ZERO, &Dedicated, &mut Effort::default()).unwrap();
        for (τ, r) in tasks.iter().zip(&r) {
            assert!(*r <= τ.deadline && *r >= τ.execution);
        }
        assert!(r[2] > ms(17), "the longest period waits for the others");
    }
}
