//! Exact response times and feasibility under earliest deadline first without preemption, on one processor.
//!
//! George, Rivierre and Spuri, "Preemptive and non-preemptive real-time uniprocessor scheduling", INRIA RR-2966, 1996,
//! section 5 (feasibility: Jeffay, Stanat and Martel, RTSS 1991, for D = T). A job of τᵢ that arrives at a starts at
//! the latest, after the start of its busy period, at
//!
//! ```text
//! Lᵢ(a) = max_{Dⱼ > a + Dᵢ} (Cⱼ − 1) + Wᵢ(a, Lᵢ(a)) + ⌊(a + Jᵢ)/Tᵢ⌋·Cᵢ
//! Wᵢ(a,t) = Σ_{j≠i, Dⱼ ≤ a+Dᵢ+Jⱼ} ( 1 + min( ⌊(t + Jⱼ)/Tⱼ⌋, ⌊(a + Dᵢ − Dⱼ + Jⱼ)/Tⱼ⌋ ) )·Cⱼ
//! Rᵢ    = max_a ( max(Lᵢ(a), a) + Cᵢ − a )
//! ```
//!
//! over the same a as in [`super::edf_response`]; with jitter a may be negative, and a job may count both as blocking and
//! as more urgent, so that the bound is sufficient only. Ties are broken against τᵢ. Time is discrete (one nanosecond), so a job with a later deadline started at least one nanosecond before. The scheduler
//! never idles while a job waits.

use crate::effort::{Effort, HORIZON};
use crate::task::{ceil_div, to_duration, Sporadic};
use crate::uniprocessor::edf_response::arrivals_to_try;
use crate::uniprocessor::overloaded;
use tactus_time::Duration;

/// The response-time bound of every task. `None` where the busy period does not end or the effort did not do.
pub fn responses(tasks: &[Sporadic], effort: &mut Effort) -> Option<Vec<Duration>> {
    if overloaded(tasks) {
        return None;
    }
    let l = busy_period(tasks, effort)?;
    (0..tasks.len()).map(|i| response(tasks, i, l, effort)).collect()
}

/// The longest stretch in which work is pending, begun by a job that came just before the others.
fn busy_period(tasks: &[Sporadic], effort: &mut Effort) -> Option<i128> {
    let b = tasks.iter().map(|τ| τ.c() - 1).max().unwrap_or(0).max(0);
    let mut l = b.max(1);
    loop {
        if l > HORIZON || !effort.spend(tasks.len()) {
            return None;
        }
        let next = b + tasks.iter().map(|τ| ceil_div(l + τ.j(), τ.t()) * τ.c()).sum::<i128>();
        if next <= l {
            return Some(l);
        }
        l = next;
    }
}

fn response(tasks: &[Sporadic], i: usize, l: i128, effort: &mut Effort) -> Option<Duration> {
    let own = &tasks[i];
    let mut worst = own.c() + own.j();
    for a in arrivals_to_try(tasks, own, l, effort)? {
        let before = (a + own.j()).div_euclid(own.t()) * own.c();
        let others = || tasks.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, τ)| τ);
        let b = others().filter(|τ| τ.d() > a + own.d()).map(|τ| τ.c() - 1).max().unwrap_or(0).max(0);
        let mut start = b + before;
        loop {
            if start > HORIZON || !effort.spend(tasks.len()) {
                return None;
            }
            let mut next = b + before;
            for τ in others() {
                let reach = a + own.d() - τ.d() + τ.j();
                if reach >= 0 {
                    next += (1 + (start + τ.j()).div_euclid(τ.t()).min(reach.div_euclid(τ.t()))) * τ.c();
                }
            }
            if next <= start {
                break;
            }
            start = next;
        }
        worst = worst.max(start.max(a) + own.c() - a);
    }
    Some(to_duration(worst))
}
