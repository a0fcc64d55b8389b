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

use crate::global::set::{greater, lesser, Set, ROUNDER};

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
    /// Slacks that are shown.
    least: Vec<f64>,
    /// Slacks that no number of rounds will exceed.
    most: Vec<f64>,
    /// Tasks by falling deadline.
    order: Vec<usize>,
    /// Tasks whose slack is still negative.
    failing: Vec<usize>,
}

/// The test of 2009.
///
/// The rounds climb to the least slacks that satisfy the equations, whatever the order of the tasks in a round; long deadlines
/// first needs the fewest, for slack that is long beside other deadlines takes interference away whole. The last rounds gain little and are many,
/// so the same equations are followed from above as well: started from Dₖ − Cₖ they stay above those least slacks, and a task that fails there
/// fails for good.
pub fn bcl_iterative(set: &Set, m: usize, memory: &mut Memory) -> bool {
    if !set.fits(m) || !set.constrained() {
        return false;
    }
    let Memory { least, most, order, failing } = memory;
    least.clear();
    least.resize(set.len(), 0.0);
    most.clear();
    most.extend(set.d.iter().zip(&set.c).map(|(d, c)| d - c));
    order.clear();
    order.extend(0..set.len());
    order.sort_unstable_by(|&a, &b| set.d[b].total_cmp(&set.d[a]));
    let mut shrinks = true;
    loop {
        let mut grown = false;
        failing.clear();
        for &k in order.iter() {
            let left = slack_left(set, m, k, least);
            if left < 0.0 {
                failing.push(k);
            } else if left > least[k] {
                least[k] = left;
                grown = true;
            }
        }
        if failing.is_empty() {
            return true;
        }
        if !grown {
            return false;
        }
        if shrinks {
            shrinks = false;
            for &k in failing.iter().chain(order.iter()).chain(failing.iter()) {
                if most[k] == least[k] && least[k] > 0.0 {
                    continue;
                }
                let left = slack_left(set, m, k, most);
                if left < 0.0 {
                    return false;
                }
                shrinks |= left < most[k];
                most[k] = lesser(left, most[k]);
            }
        }
    }
}

/// Dₖ − Cₖ − ⌊(1/m)·Σ min(Iᵢ, Dₖ − Cₖ + 1)⌋.
///
/// With q the quotient Dₖ/Tᵢ to the nearest and r = Dₖ − q·Tᵢ, I needs neither a division nor a case: since Sᵢ ≤ Tᵢ − Cᵢ,
///
/// ```text
/// I = q·C + min(C, max(0, r − S)) + min(C, max(0, r + T − S)) − C
/// ```
///
/// is right for r < 0 as well. All numbers are whole, hence exact in any order; four sums go side by side.
fn slack_left(set: &Set, m: usize, k: usize, slack: &[f64]) -> f64 {
    let (d, room) = (set.d[k], set.d[k] - set.c[k]);
    let cap = room + 1.0;
    let term = |c: f64, t: f64, per: f64, s: f64| {
        let q = (d * per + ROUNDER) - ROUNDER;
        let over = d - q * t - s;
        lesser(q * c + lesser(c, greater(over, 0.0)) + lesser(c, greater(over + t, 0.0)) - c, cap)
    };
    let mut sums = [0.0; 4];
    let (cs, ts) = (set.c.chunks_exact(4), set.t.chunks_exact(4));
    let (pers, slacks) = (set.per_t.chunks_exact(4), slack.chunks_exact(4));
    let rest: f64 =
        (set.len() - set.len() % 4..set.len()).map(|i| term(set.c[i], set.t[i], set.per_t[i], slack[i])).sum();
    for (((c, t), per), s) in cs.zip(ts).zip(pers).zip(slacks) {
        for lane in 0..4 {
            sums[lane] += term(c[lane], t[lane], per[lane], s[lane]);
        }
    }
    // The task itself was counted with the others.
    let own = term(set.c[k], set.t[k], set.per_t[k], slack[k]);
    let sum = sums.iter().sum::<f64>() + rest - own;
    room - (sum / m as f64).floor()
}
