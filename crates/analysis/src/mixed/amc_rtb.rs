//! Adaptive mixed criticality, response-time bound (AMC-rtb).
//!
//! Baruah, Burns and Davis, "Response-time analysis for mixed criticality systems", RTSS 2011, section IV-B. A critical
//! job meets less critical releases only before the mode changes, which is at the latest at its R(LO):
//!
//! ```text
//! Rᵢ(HI) = Cᵢ(HI) + Σ_{j ∈ hpH(i)} ⌈Rᵢ(HI)/Tⱼ⌉·Cⱼ(HI) + Σ_{k ∈ hpL(i)} ⌈Rᵢ(LO)/Tₖ⌉·Cₖ(LO)
//! ```
//!
//! Sufficient only. Dominates [`super::smc`]; [`super::amc_max`] dominates it. Priorities by [`super::priorities`] are optimal.

use super::{all, fixed_point, Dual, Promise};
use crate::effort::Effort;
use crate::task::ceil_div;

/// The promise of every task, the most urgent first.
pub fn promises(tasks: &[Dual], effort: &mut Effort) -> Vec<Promise> {
    all(tasks, effort, |i, low, effort| {
        let (high, rest): (Vec<&Dual>, Vec<&Dual>) = tasks[..i].iter().partition(|h| h.critical);
        let before: i128 = rest.iter().map(|k| ceil_div(low, k.t()) * k.c_low()).sum();
        fixed_point(&tasks[i], tasks[i].c_high() + before, i, effort, |r| {
            high.iter().map(|j| ceil_div(r, j.t()) * j.c_high()).sum::<i128>()
        })
    })
}
