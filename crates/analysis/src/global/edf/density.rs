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
//! load is the largest demand of any interval over its length. Where δ_sum ≤ the bound, or all deadlines are
//! implicit (load = ΣU), no search is needed; else it is taken from above by [`load`].

use crate::global::set::{at_most, Set};

/// GFB.
pub fn gfb(set: &Set, m: usize) -> bool {
    let m = m as f64;
    set.fits(m as usize) && set.constrained() && at_most(set.density(), m - (m - 1.0) * set.max_density())
}

/// The load of the set may be taken this much too large.
pub const LOAD_PRECISION: f64 = 0.001;

/// An upper bound on sup DBF(t)/t that is at most [`LOAD_PRECISION`] too large.
///
/// Beyond t = Σuᵢ·max(0, Tᵢ − Dᵢ) / precision the demand is at most (U + precision)·t, since DBFᵢ(t) ≤ uᵢ·(t + Tᵢ − Dᵢ); before
/// it, every deadline is looked at. `points` is memory to work in.
pub fn load(set: &Set, points: &mut Vec<f64>) -> f64 {
    if set.implicit() {
        return set.utilisation();
    }
    let over: f64 = (0..set.len()).map(|i| set.u[i] * (set.t[i] - set.d[i]).max(0.0)).sum();
    let horizon = over / LOAD_PRECISION;
    let mut load = if over > 0.0 { set.utilisation() + LOAD_PRECISION } else { set.utilisation() };
    points.clear();
    for i in 0..set.len() {
        let mut at = set.d[i];
        while at <= horizon {
            points.push(at);
            at += set.t[i];
        }
    }
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();
    for &t in points.iter() {
        // The steps below t bound DBF(t)/t by what is known; only points that can raise the maximum are summed.
        let demand: f64 = (0..set.len())
            .filter(|&i| t >= set.d[i])
            .map(|i| (((t - set.d[i]) / set.t[i]).floor() + 1.0) * set.c[i])
            .sum();
        load = load.max(demand / t);
    }
    load
}

/// LOAD. Deadlines may be arbitrary.
pub fn load_test(set: &Set, m: usize, points: &mut Vec<f64>) -> bool {
    if !set.fits(m) {
        return false;
    }
    // The densities of the theorem are C/D.
    let max = (0..set.len()).map(|i| set.c[i] / set.d[i].min(set.t[i])).fold(0.0, f64::max);
    let μ = m as f64 - (m as f64 - 1.0) * max;
    let ceil = (μ - 1e-12).ceil();
    let bound = (μ - (ceil - 1.0) * max).max((ceil - 1.0) - (ceil - 2.0) * max);
    at_most(set.utilisation(), bound) && (at_most(set.density(), bound) || at_most(load(set, points), bound))
}
