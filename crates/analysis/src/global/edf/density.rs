//! Tests of global EDF by densities: linear time.
//!
//! **GFB**: Goossens, Funk and Baruah, Real-Time Systems 25, 2003, with densities after Bertogna, Cirinei and Lipari,
//! ECRTS 2005: δ_sum ≤ m − (m − 1)·δ_max.
//!
//! **LOAD**: Baker and Baruah, Real-Time Systems 43, 2009, corollary 2: with μ = m − (m − 1)·δ_max,
//!
//! ```text
//! load ≤ max( μ − (⌈μ⌉ − 1)·δ_max,  (⌈μ⌉ − 1) − (⌈μ⌉ − 2)·δ_max )
//! ```
//!
//! load is the largest demand of any interval over its length. Where δ_sum is within the bound, or all deadlines are
//! implicit (load = ΣU), no search is needed; else DBF(t) ≤ bound·t is looked at for each deadline t, and exactly: from
//! t = Σuᵢ·max(0, Tᵢ − Dᵢ)/(bound − U) on it holds anyway, since DBFᵢ(t) ≤ uᵢ·(t + Tᵢ − Dᵢ).

use crate::global::set::{at_most, Set};

/// GFB.
pub fn gfb(set: &Set, m: usize) -> bool {
    let m = m as f64;
    set.fits(m as usize) && set.constrained() && at_most(set.density(), m - (m - 1.0) * set.max_density())
}

/// Points looked at before LOAD gives up and refuses: a load so near the bound that the search would not end in time.
pub const MOST_POINTS: usize = 500_000;

/// LOAD. Deadlines may be arbitrary. `points` is memory to work in.
pub fn load(set: &Set, m: usize, points: &mut Vec<f64>) -> bool {
    if !set.fits(m) {
        return false;
    }
    let max = set.max_density();
    let μ = m as f64 - (m as f64 - 1.0) * max;
    let ceil = (μ - 1e-12).ceil();
    let bound = (μ - (ceil - 1.0) * max).max((ceil - 1.0) - (ceil - 2.0) * max);
    at_most(set.utilisation(), bound)
        && (set.implicit() || at_most(set.density(), bound) || demand_within(set, bound, points))
}

/// Whether DBF(t) ≤ bound·t for every t, for bound > U.
fn demand_within(set: &Set, bound: f64, points: &mut Vec<f64>) -> bool {
    let over: f64 = (0..set.len()).map(|i| set.u[i] * (set.t[i] - set.d[i]).max(0.0)).sum();
    let end = over / (bound - set.utilisation()) * (1.0 + 1e-9);
    let stretch = set.longest_period();
    let (mut from, mut seen) = (0.0, 0);
    while from <= end {
        let to = from + stretch;
        set.deadlines(from, to, end, points);
        seen += points.len();
        let demand = |t: f64| -> f64 {
            let jobs = |i: usize| ((t - set.d[i]) / set.t[i]).floor() + 1.0;
            (0..set.len()).map(|i| jobs(i).max(0.0) * set.c[i]).sum()
        };
        if seen > MOST_POINTS || points.iter().any(|&t| !at_most(demand(t), bound * t)) {
            return false;
        }
        from = to;
    }
    true
}
