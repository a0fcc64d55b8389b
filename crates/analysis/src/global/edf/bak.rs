//! BAK, a test of global EDF for arbitrary deadlines.
//!
//! Baker, "Multiprocessor EDF and deadline monotonic schedulability analysis", RTSS 2003, refined 2005: for every k with
//! λ = δₖ = Cₖ/Dₖ
//!
//! ```text
//! Σᵢ min(1, βᵢ) ≤ m·(1 − λ) + λ,   βᵢ = uᵢ·(1 + (Tᵢ − Dᵢ)/Dₖ) + max(0, (Cᵢ − λ·Tᵢ)/Dₖ)
//! ```
//!
//! **Our reading.** Where Dᵢ > Tᵢ the term (Tᵢ − Dᵢ)/Dₖ would let a long deadline lower a task's share below uᵢ; it is taken as 0
//! there. (SchedCAT subtracts it.)

use crate::global::set::{at_most, Set};

/// Whether the test accepts the set.
pub fn bak(set: &Set, m: usize) -> bool {
    if !set.fits(m) {
        return false;
    }
    let m = m as f64;
    // The heaviest task leaves least room; asking it first finds most refusals at once.
    let heaviest = (0..set.len()).max_by(|&a, &b| (set.c[a] / set.d[a]).total_cmp(&(set.c[b] / set.d[b])));
    heaviest.into_iter().chain(0..set.len()).all(|k| {
        let λ = set.c[k] / set.d[k];
        let per_d = 1.0 / set.d[k];
        let mut sum = 0.0;
        for (((c, t), d), u) in set.c.iter().zip(&set.t).zip(&set.d).zip(&set.u) {
            let β = u * (1.0 + (t - d).max(0.0) * per_d) + ((c - λ * t) * per_d).max(0.0);
            sum += β.min(1.0);
        }
        at_most(sum, m * (1.0 - λ) + λ)
    })
}
