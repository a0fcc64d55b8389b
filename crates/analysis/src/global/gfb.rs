//! The density test for global EDF.
//!
//! Goossens, Funk and Baruah, "Priority-driven scheduling of periodic task systems on multiprocessors", Real-Time
//! Systems 25, 2003, with densities δᵢ = Cᵢ / min(Dᵢ, Tᵢ) after Bertogna, Cirinei and Lipari, ECRTS 2005:
//! the set meets all deadlines under global EDF on m processors if δ_sum ≤ m − (m − 1)·δ_max.
//! Assumes independent, preemptive sporadic tasks without jitter. Sufficient only.

use crate::task::Sporadic;
use crate::utilisation::{Utilisation, ONE};

/// Whether Σδᵢ + (m − 1)·δ_max ≤ m, exactly up to 2⁻⁵⁰ and against the set below that.
pub fn schedulable(tasks: &[Sporadic], m: usize) -> bool {
    let density = |τ: &Sporadic| (τ.execution, τ.deadline.min(τ.period));
    let (_, sum) = Utilisation::of(tasks.iter().map(density)).bracket();
    let max = tasks.iter().map(|τ| Utilisation::of([density(τ)]).bracket().1).max().unwrap_or(0);
    let m = m as u128;
    tasks.iter().all(|τ| τ.jitter.is_zero() && !τ.deadline.is_zero())
        && max <= ONE as u128
        && (sum + (m - 1) * max <= m * ONE as u128)
}
