//! Static mixed criticality: no task is ever dropped.
//!
//! Baruah and Burns, "Implementing mixed criticality systems in Ada", Ada-Europe 2011; Baruah, Burns and Davis,
//! "Response-time analysis for mixed criticality systems", RTSS 2011, equation 3. With budgets enforced at each task's
//! own level, a job of level L meets others at the lower of both levels:
//!
//! ```text
//! Rᵢ = Cᵢ(Lᵢ) + Σ_{j ∈ hp(i)} ⌈Rᵢ/Tⱼ⌉·Cⱼ(min(Lᵢ, Lⱼ))
//! ```
//!
//! The promise of a less critical task holds while HI jobs keep to C(LO); later it is late, not dropped. Sufficient;
//! exact for the critical tasks if all of them may overrun at once.

use super::{all, fixed_point, Dual, Promise};
use crate::effort::Effort;
use crate::task::ceil_div;

/// The promise of every task, the most urgent first.
pub fn promises(tasks: &[Dual], effort: &mut Effort) -> Vec<Promise> {
    all(tasks, effort, |i, _, effort| {
        let higher = &tasks[..i];
        fixed_point(&tasks[i], tasks[i].c_high(), i, effort, |r| {
            let c = |h: &Dual| if h.critical { h.c_high() } else { h.c_low() };
            higher.iter().map(|h| ceil_div(r, h.t()) * c(h)).sum::<i128>()
        })
    })
}
