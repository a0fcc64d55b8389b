//! FF-DBF, a test of global EDF for constrained deadlines by forced-forward demand.
//!
//! Baruah, Bonifaci, Marchetti-Spaccamela and Stiller, "Implementation of a speedup-optimal global EDF schedulability
//! test", ECRTS 2009: the set is schedulable if there is σ ≥ δ_max with, for all t ≥ 0,
//!
//! ```text
//! Σᵢ FFDBFᵢ(t, σ) ≤ (m − (m − 1)·σ)·t
//! FFDBFᵢ = q·C + { C if r ≥ D;  C − (D − r)·σ if D − C/σ ≤ r < D;  0 else },   q = ⌊t/T⌋,  r = t mod T
//! ```
//!
//! FFDBF is continuous and its upper kinks are at r = D, so deadlines are the only points to look at. There FFDBFᵢ(t) ≤ uᵢ·t +
//! uᵢ·(Tᵢ − Dᵢ), so from t = Σuᵢ(Tᵢ − Dᵢ)/(m − (m − 1)σ − U) on it holds anyway. For implicit deadlines that is at once:
//! the test then is GFB's. σ is searched for at δ_max and the multiples of a step above it.

use crate::global::set::{at_most, Set};

/// How finely σ is searched for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Precision {
    /// σ is δ_max or a multiple of this.
    pub step: f64,
    /// σ stays this much below (m − U)/(m − 1), beyond which the search has no end.
    pub margin: f64,
}

impl Precision {
    /// SchedCAT's defaults.
    pub const SCHEDCAT: Precision = Precision { step: 0.02, margin: 0.1 };
    /// What studies and checks use.
    pub const FINE: Precision = Precision { step: 0.02, margin: 0.001 };
}

/// Memory to work in.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    points: Vec<f64>,
    /// Points at which some σ failed; the likeliest to fail the next.
    failed: Vec<f64>,
}

/// Points looked at before the test gives up and refuses.
pub const MOST_POINTS: usize = 500_000;

/// The test with σ searched for finely.
pub fn ff_dbf(set: &Set, m: usize, memory: &mut Memory) -> bool {
    if set.implicit() {
        return m >= 2 && crate::global::edf::density::gfb(set, m);
    }
    search(set, m, Precision::FINE, memory)
}

/// The test with this search. Two processors at least.
pub fn search(set: &Set, m: usize, precision: Precision, memory: &mut Memory) -> bool {
    if !set.fits(m) || !set.constrained() || m < 2 {
        return false;
    }
    let (lowest, others) = (set.max_density(), m as f64 - 1.0);
    let highest = ((m as f64 - set.utilisation()) / others - precision.margin).min(1.0);
    let over: f64 = (0..set.len()).map(|i| set.u[i] * (set.t[i] - set.d[i])).sum();
    memory.failed.clear();
    let first = (lowest / precision.step).floor();
    let mut seen = 0;
    let mut σ = lowest;
    for step in 1.. {
        if σ > highest {
            return false;
        }
        let rate = m as f64 - others * σ;
        // A trifle longer, for the rounding of the sums.
        let end = over / (rate - set.utilisation()) * (1.0 + 1e-9);
        match holds(set, σ, rate, end, memory, &mut seen) {
            Some(true) => return true,
            Some(false) => {}
            None => return false,
        }
        σ = (first + f64::from(step)) * precision.step;
    }
    false
}

/// Whether the condition holds up to `end`; nothing if that takes too long.
fn holds(set: &Set, σ: f64, rate: f64, end: f64, memory: &mut Memory, seen: &mut usize) -> Option<bool> {
    let fails = |t: f64| !at_most(demand(set, σ, t), rate * t);
    if memory.failed.iter().any(|&t| t <= end && fails(t)) {
        return Some(false);
    }
    let stretch = set.longest_period();
    let mut from = 0.0;
    while from <= end {
        let to = from + stretch;
        set.deadlines(from, to, end, &mut memory.points);
        *seen += memory.points.len();
        if *seen > MOST_POINTS {
            return None;
        }
        if let Some(&t) = memory.points.iter().find(|&&t| fails(t)) {
            memory.failed.push(t);
            return Some(false);
        }
        from = to;
    }
    Some(true)
}

fn demand(set: &Set, σ: f64, t: f64) -> f64 {
    (0..set.len())
        .map(|i| {
            let q = (t * set.per_t[i]).floor();
            let r = t - q * set.t[i];
            // One line for the three cases: the ramp, cut off at 0 and at C.
            q * set.c[i] + (set.c[i] - (set.d[i] - r) * σ).clamp(0.0, set.c[i])
        })
        .sum()
}
