//! BCL, with and without iterated slack: tests of global EDF for constrained deadlines.
//!
//! Bertogna, Cirinei and Lipari, "Improved schedulability analysis of EDF on multiprocessor platforms", ECRTS 2005: for
//! every k, in time (the paper divides both sides by Dₖ),
//!
//! ```text
//! Σ_{i≠k} min(Wᵢ, Dₖ − Cₖ) < m·(Dₖ − Cₖ),   Wᵢ = N·Cᵢ + min(Cᵢ, max(0, Dₖ − N·Tᵢ)),   N = max(0, ⌊(Dₖ − Dᵢ)/Tᵢ⌋ + 1)
//! ```
//!
//! or equality, if some 0 < Wᵢ ≤ Dₖ − Cₖ.
//!
//! *Iterated*: the same authors, "Schedulability analysis of global scheduling algorithms on multiprocessor platforms",
//! IEEE TPDS 20, 2009: with slacks Sᵢ that start at 0,
//!
//! ```text
//! Iᵢ = ⌊Dₖ/Tᵢ⌋·Cᵢ + min(Cᵢ, max(0, Dₖ mod Tᵢ − Sᵢ)),   Sₖ = Dₖ − Cₖ − ⌊(1/m)·Σ_{i≠k} min(Iᵢ, Dₖ − Cₖ + 1)⌋
//! ```
//!
//! until every slack is at least 0 or none grows.

use crate::global::set::Set;

/// The test of 2005.
pub fn bcl(set: &Set, m: usize) -> bool {
    if !set.fits(m) || !set.constrained() {
        return false;
    }
    (0..set.len()).all(|k| {
        let (d, room) = (set.d[k], set.d[k] - set.c[k]);
        let mut sum = 0.0;
        let mut small = false;
        for i in 0..set.len() {
            if i == k {
                continue;
            }
            let n = if set.d[i] > d { 0.0 } else { ((d - set.d[i]) / set.t[i]).floor() + 1.0 };
            let w = n * set.c[i] + set.c[i].min((d - n * set.t[i]).max(0.0));
            sum += w.min(room);
            small |= 0.0 < w && w <= room;
        }
        let bound = m as f64 * room;
        sum < bound || (small && sum == bound)
    })
}

/// The test of 2009. `slack` is memory to work in.
pub fn bcl_iterative(set: &Set, m: usize, slack: &mut Vec<f64>) -> bool {
    if !set.fits(m) || !set.constrained() {
        return false;
    }
    slack.clear();
    slack.resize(set.len(), 0.0);
    loop {
        let (mut grown, mut all) = (false, true);
        for k in 0..set.len() {
            let (d, cap) = (set.d[k], set.d[k] - set.c[k] + 1.0);
            let interference = |i: usize| {
                let n = (d / set.t[i]).floor();
                (n * set.c[i] + set.c[i].min((d - n * set.t[i] - slack[i]).max(0.0))).min(cap)
            };
            let sum: f64 = (0..k).chain(k + 1..set.len()).map(interference).sum();
            let left = d - set.c[k] - (sum / m as f64).floor();
            if left < 0.0 {
                all = false;
            } else if left > slack[k] {
                slack[k] = left;
                grown = true;
            }
        }
        if all {
            return true;
        }
        if !grown {
            return false;
        }
    }
}
