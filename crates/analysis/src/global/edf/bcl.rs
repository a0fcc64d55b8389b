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

use crate::global::set::{greater, lesser, sum, Set, ROUNDER};

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

/// Memory to work in.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    slack: Vec<f64>,
    most: Vec<f64>,
    terms: Vec<f64>,
}

/// The test of 2009.
pub fn bcl_iterative(set: &Set, m: usize, memory: &mut Memory) -> bool {
    if !set.fits(m) || !set.constrained() {
        return false;
    }
    let Memory { slack, most, terms } = memory;
    slack.clear();
    slack.resize(set.len(), 0.0);
    for round in 0.. {
        let (mut grown, mut all) = (false, true);
        for k in 0..set.len() {
            let left = slack_left(set, m, k, slack, terms);
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
        if round == 0 {
            // With the largest slacks that there can be, interference is least. What fails then always fails.
            most.clear();
            most.extend(set.d.iter().zip(&set.c).map(|(d, c)| d - c));
            if (0..set.len()).any(|k| slack_left(set, m, k, most, terms) < 0.0) {
                return false;
            }
        }
    }
    false
}

/// Dₖ − Cₖ − ⌊(1/m)·Σ min(Iᵢ, Dₖ − Cₖ + 1)⌋.
///
/// With q the quotient Dₖ/Tᵢ to the nearest and r = Dₖ − q·Tᵢ, I needs neither a division nor a case: since Sᵢ ≤ Tᵢ − Cᵢ,
///
/// ```text
/// I = q·C + min(C, max(0, r − S)) + min(C, max(0, r + T − S)) − C
/// ```
///
/// is right for r < 0 as well. All numbers are whole, hence exact.
fn slack_left(set: &Set, m: usize, k: usize, slack: &[f64], terms: &mut Vec<f64>) -> f64 {
    let (d, room) = (set.d[k], set.d[k] - set.c[k]);
    let cap = room + 1.0;
    terms.clear();
    terms.extend(set.c.iter().zip(&set.t).zip(&set.per_t).zip(slack).map(|(((&c, &t), &per), &s)| {
        let q = (d * per + ROUNDER) - ROUNDER;
        let over = d - q * t - s;
        lesser(q * c + lesser(c, greater(over, 0.0)) + lesser(c, greater(over + t, 0.0)) - c, cap)
    }));
    terms[k] = 0.0;
    room - (sum(terms) / m as f64).floor()
}
