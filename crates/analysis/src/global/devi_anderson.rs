//! The tardiness bound of global EDF as first published.
//!
//! Devi and Anderson, "Tardiness bounds under global EDF scheduling on a multiprocessor", RTSS 2005 and Real-Time
//! Systems 38, 2008, theorem 1 (EDF-BASIC): on m processors that are always available, for implicit deadlines,
//! U_sum ≤ m and uᵢ ≤ 1, with Λ = ⌈U_sum⌉ − 1,
//!
//! ```text
//! x = ( Σ_{Λ largest} e − e_min ) / ( m − Σ_{Λ−1 largest} u ),      tardiness of τₖ ≤ x + eₖ
//! ```
//!
//! On one processor tardiness is zero. [`super::tardiness`] gives a bound for less simple systems.

use crate::task::{to_duration, Sporadic};
use crate::utilisation::{Utilisation, ONE};
use tactus_time::Duration;

/// x, rounded up. `None` where the assumptions do not hold.
pub fn x(tasks: &[Sporadic], m: usize) -> Option<Duration> {
    let u_sum = Utilisation::of(tasks.iter().map(|τ| (τ.execution, τ.period)));
    let fits = tasks.iter().all(|τ| τ.execution <= τ.period && τ.deadline == τ.period && τ.jitter.is_zero());
    if !fits || !u_sum.at_most(m as u64) {
        return None;
    }
    // ⌈U_sum⌉ from above: a larger Λ only makes x larger.
    let lambda = (u_sum.bracket().1.div_ceil(ONE as u128) as usize).saturating_sub(1).min(m - 1);
    let mut e: Vec<i128> = tasks.iter().map(Sporadic::c).collect();
    e.sort_unstable_by(|a, b| b.cmp(a));
    let mut u: Vec<u128> = tasks.iter().map(|τ| Utilisation::of([(τ.execution, τ.period)]).bracket().1).collect();
    u.sort_unstable_by(|a, b| b.cmp(a));
    let numerator = (e.iter().take(lambda).sum::<i128>() - e.last().copied().unwrap_or(0)).max(0);
    let denominator = m as i128 * ONE - u.iter().take(lambda.saturating_sub(1)).sum::<u128>() as i128;
    Some(to_duration((numerator as u128 * ONE as u128).div_ceil(denominator.max(1) as u128) as i128))
}
