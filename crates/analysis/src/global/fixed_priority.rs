//! Global fixed priorities: a test and response bounds that let at most m − 1 tasks carry work in.
//!
//! **BCL for fixed priorities**: Bertogna, Cirinei and Lipari, "Schedulability analysis of global scheduling algorithms on
//! multiprocessor platforms", IEEE TPDS 20, 2009, with slacks of the more urgent tasks where they are known:
//!
//! ```text
//! Σ_{i more urgent} min(Wᵢ(Dₖ), Dₖ − Cₖ + 1) < m·(Dₖ − Cₖ + 1)
//! ```
//!
//! **Limited carry-in**: Guan, Stigge, Yi and Yu, "New response time bounds for fixed priority multiprocessor scheduling", RTSS 2009.
//! A busy window can be taken to begin when at most m − 1 of the more urgent tasks have work left from before:
//!
//! ```text
//! R = C + ⌊(1/m)·( Σᵢ Iᶰᶜᵢ(R) + Σ_{m−1 largest} max(0, Iᶜᶦᵢ(R) − Iᶰᶜᵢ(R)) )⌋,   I = min(W, R − C + 1)
//! Wᶰᶜᵢ(x) = ⌊x/Tᵢ⌋·Cᵢ + min(Cᵢ, x mod Tᵢ)
//! Wᶜᶦᵢ(x) = Cᵢ·⌊y/Tᵢ⌋ + Cᵢ + α,  y = max(0, x − Cᵢ),  α = min(Cᵢ − 1, max(0, y mod Tᵢ − (Tᵢ − Rᵢ)))    (0 < x; at most x)
//! ```
//!
//! Assumptions: independent preemptive sporadic tasks, D ≤ T, no jitter, whole time. A task's bound holds if the more urgent
//! ones have bounds.

use crate::effort::Effort;
use crate::global::bertogna_cirinei::work;
use crate::task::{floor_div, to_duration, Sporadic};
use tactus_time::Duration;

fn constrained(τ: &Sporadic) -> bool {
    τ.deadline <= τ.period && τ.jitter.is_zero() && τ.execution <= τ.deadline
}

/// BCL: whether every task meets its deadline; `tasks` from most to least urgent.
pub fn bcl(tasks: &[Sporadic], m: usize) -> bool {
    tasks.iter().all(constrained)
        && (0..tasks.len()).all(|k| {
            let τ = &tasks[k];
            let cap = τ.d() - τ.c() + 1;
            k < m || tasks[..k].iter().map(|i| work(i, τ.d(), 0).min(cap)).sum::<i128>() < m as i128 * cap
        })
}

/// Wᶰᶜ: the most work in a window that no job carries into.
fn without_carry_in(τ: &Sporadic, x: i128) -> i128 {
    let n = floor_div(x, τ.t());
    n * τ.c() + τ.c().min(x - n * τ.t())
}

/// Wᶜᶦ, for a task that responds within r.
fn with_carry_in(τ: &Sporadic, x: i128, r: i128) -> i128 {
    if x <= 0 {
        return 0;
    }
    let y = (x - τ.c()).max(0);
    let n = floor_div(y, τ.t());
    let α = (τ.c() - 1).min((y - n * τ.t() - (τ.t() - r)).max(0)).max(0);
    (τ.c() * n + τ.c() + α).min(x.max(without_carry_in(τ, x)))
}

/// Response bounds with limited carry-in; `tasks` from most to least urgent. `None` from the first task on that is not shown to meet its deadline.
pub fn responses(tasks: &[Sporadic], m: usize, effort: &mut Effort) -> Vec<Option<Duration>> {
    let mut found: Vec<i128> = Vec::with_capacity(tasks.len());
    let mut carried = Vec::with_capacity(tasks.len());
    for τ in tasks {
        if !constrained(τ) {
            break;
        }
        let above = &tasks[..found.len()];
        let mut r = τ.c();
        let bound = loop {
            if r > τ.d() || !effort.spend(2 * above.len()) {
                break None;
            }
            let cap = r - τ.c() + 1;
            carried.clear();
            let mut sum = 0;
            for (i, &response) in above.iter().zip(&found) {
                let without = without_carry_in(i, r).min(cap);
                sum += without;
                carried.push((with_carry_in(i, r, response).min(cap) - without).max(0));
            }
            carried.sort_unstable_by(|a, b| b.cmp(a));
            sum += carried.iter().take(m - 1).sum::<i128>();
            let short = sum - m as i128 * cap;
            if short < 0 {
                break Some(r);
            }
            // Tasks at the cap grow with the window; where K of them are there to stay for δ, no fixed point is nearer.
            let stay = |i: &Sporadic| without_carry_in(i, r) - cap;
            let mut stays: Vec<i128> = above.iter().map(stay).filter(|s| *s > 0).collect();
            stays.sort_unstable_by(|a, b| b.cmp(a));
            let leap = stays.iter().take(m).enumerate().map(|(n, &stay)| match (m - n - 1) as i128 {
                0 => stay,
                left => stay.min(short / left),
            });
            r += leap.chain([short / m as i128]).max().unwrap_or(0) + 1;
        };
        match bound {
            Some(r) => found.push(r),
            None => break,
        }
    }
    let bounds = found.into_iter().map(|r| Some(to_duration(r)));
    bounds.chain(std::iter::repeat(None)).take(tasks.len()).collect()
}
