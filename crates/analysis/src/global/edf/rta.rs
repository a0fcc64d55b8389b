//! Response-time analysis of global EDF with iterated slack, laid out for speed.
//!
//! Bertogna and Cirinei, RTSS 2007; formulas and assumptions stand at the head of
//! [`crate::global::bertogna_cirinei`], which gives the bounds themselves and is the slow twin that tests compare this with.
//!
//! The work W of a task in a window of length x = L + D − C − S is a continuous function of x: at x = qT both
//! q·C + min(C, 0) and (q − 1)·C + min(C, T) give qC. So the quotient may be off by one at multiples of T and W stays exact, and
//! ⌊x/T⌋ needs no division:
//!
//! ```text
//! q = x/T to the nearest, r = x − q·T in [−T/2, T/2]:   W = q·C + min(C, max(0, r)) + min(0, r + T − C)
//! ```

use crate::global::set::Set;

/// As often as SchedCAT and the paper's authors iterate.
pub const ROUNDS: usize = 25;

/// Adding and taking away rounds a number below 2⁵¹ to the nearest whole one.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Memory to work in.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    slack: Vec<f64>,
    /// What EDF lets ahead of τₖ.
    ahead: Vec<f64>,
    /// D − C − S.
    shift: Vec<f64>,
}

/// Whether the test accepts the set.
pub fn rta(set: &Set, m: usize, memory: &mut Memory) -> bool {
    if !set.fits(m) || !set.constrained() {
        return false;
    }
    let n = set.len();
    let Memory { slack, ahead, shift } = memory;
    slack.clear();
    slack.resize(n, 0.0);
    shift.clear();
    shift.extend((0..n).map(|i| set.d[i] - set.c[i]));
    for _ in 0..ROUNDS {
        let (mut changed, mut all) = (false, true);
        for k in 0..n {
            let (c, d) = (set.c[k], set.d[k]);
            ahead.clear();
            ahead.extend(set.c.iter().zip(&set.t).zip(&set.per_t).zip(slack.iter()).map(|(((c, t), per), s)| {
                let q = (d * per + ROUNDER) - ROUNDER;
                let over = d - q * t;
                // The quotient rounded down, and what is left; exact as both products are whole.
                let (q, over) = if over < 0.0 { (q - 1.0, over + t) } else { (q, over) };
                q * c + c.min((over - s).max(0.0))
            }));
            ahead[k] = 0.0;
            match response(set, k, m as f64, ahead, shift) {
                Some(r) => {
                    let left = d - r;
                    if left != slack[k] {
                        slack[k] = left;
                        shift[k] = d - c - left;
                        changed = true;
                    }
                }
                None => all = false,
            }
        }
        if all {
            return true;
        }
        if !changed {
            return false;
        }
    }
    false
}

/// The least fixed point, if it is at most the deadline.
fn response(set: &Set, k: usize, m: f64, ahead: &[f64], shift: &[f64]) -> Option<f64> {
    let (c, d) = (set.c[k], set.d[k]);
    let mut r = c;
    loop {
        let cap = r - c + 1.0;
        let mut sum = 0.0;
        for ((((&e, &t), &per), &a), &s) in set.c.iter().zip(&set.t).zip(&set.per_t).zip(ahead).zip(shift) {
            let x = r + s;
            let q = (x * per + ROUNDER) - ROUNDER;
            let over = x - q * t;
            let w = q * e + e.min(over.max(0.0)) + (over + t - e).min(0.0);
            sum += w.min(a).min(cap);
        }
        let next = c + (sum / m).floor();
        if next > d {
            return None;
        }
        if next <= r {
            return Some(r);
        }
        r = next;
    }
}
