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

use crate::global::set::{greater, lesser, sum, Set, ROUNDER};

/// As often as SchedCAT and the paper's authors iterate.
pub const ROUNDS: usize = 25;

/// A step shorter than this part of the way to the deadline is replaced by a [`leap`].
const SMALL: f64 = 32.0;

/// Memory to work in.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    slack: Vec<f64>,
    stays: Vec<f64>,
    terms: Vec<f64>,
    /// D − C: the largest slack.
    most: Vec<f64>,
    none: Vec<f64>,
    /// What EDF lets ahead of τₖ.
    ahead: Vec<f64>,
    /// D − C − S.
    shift: Vec<f64>,
}

/// What EDF may run before the deadline of a job of τₖ within that job's window, of every task.
fn ahead_of(set: &Set, k: usize, slack: &[f64], ahead: &mut Vec<f64>) {
    let d = set.d[k];
    ahead.clear();
    ahead.extend(set.c.iter().zip(&set.t).zip(&set.per_t).zip(slack).map(|(((c, t), per), s)| {
        let q = (d * per + ROUNDER) - ROUNDER;
        let over = d - q * t;
        // The quotient rounded down, and what is left; exact as both products are whole.
        let (q, over) = if over < 0.0 { (q - 1.0, over + t) } else { (q, over) };
        q * c + lesser(*c, greater(over - s, 0.0))
    }));
    ahead[k] = 0.0;
}

/// Whether the test accepts the set.
pub fn rta(set: &Set, m: usize, memory: &mut Memory) -> bool {
    if !set.fits(m) || !set.constrained() {
        return false;
    }
    let n = set.len();
    let Memory { slack, stays, terms, most, none, ahead, shift } = memory;
    slack.clear();
    slack.resize(n, 0.0);
    shift.clear();
    shift.extend((0..n).map(|i| set.d[i] - set.c[i]));
    most.clone_from(shift);
    none.clear();
    none.resize(n, 0.0);
    for round in 0..ROUNDS {
        let (mut changed, mut all) = (false, true);
        for k in 0..n {
            let (c, d) = (set.c[k], set.d[k]);
            ahead_of(set, k, slack, ahead);
            match response(set, k, m, ahead, shift, (stays, terms)) {
                Some(r) => {
                    let left = d - r;
                    if left != slack[k] {
                        slack[k] = left;
                        shift[k] = d - c - left;
                        changed = true;
                    }
                }
                None => {
                    // With the largest slacks that there can be, interference is least. What fails then always fails.
                    if round == 0 {
                        ahead_of(set, k, most, ahead);
                        if response(set, k, m, ahead, none, (stays, terms)).is_none() {
                            return false;
                        }
                    }
                    all = false;
                }
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
fn response(
    set: &Set,
    k: usize,
    m: usize,
    ahead: &[f64],
    shift: &[f64],
    (stays, terms): (&mut Vec<f64>, &mut Vec<f64>),
) -> Option<f64> {
    let (c, d, many) = (set.c[k], set.d[k], m as f64);
    let mut r = c;
    loop {
        let cap = r - c + 1.0;
        terms.clear();
        let columns = set.c.iter().zip(&set.t).zip(&set.per_t).zip(ahead).zip(shift);
        terms.extend(columns.map(|((((&e, &t), &per), &a), &s)| {
            let x = r + s;
            let q = (x * per + ROUNDER) - ROUNDER;
            let over = x - q * t;
            let w = q * e + lesser(e, greater(over, 0.0)) + lesser(over + t - e, 0.0);
            lesser(lesser(w, a), cap)
        }));
        // R = C + ⌊sum/m⌋ ≤ r if and only if sum < m·(r − C + 1).
        let short = sum(terms) - many * cap;
        if short < 0.0 {
            return Some(r);
        }
        let step = (short / many).floor() + 1.0;
        // A step that is small beside what is left may be one of very many.
        let step = if step * SMALL < d - r { step.max(leap(set, k, m, r, short, ahead, shift, stays)) } else { step };
        r += step;
        if r > d {
            return None;
        }
    }
}

/// A longer step to a point at or before the least fixed point.
///
/// Let K terms of the sum grow at rate 1 for at least δ more. Then `short` falls by at most (m − K)·δ, so that
/// there is no fixed point up to r + min(δ, short/(m − K)). The best K is taken; K = 0 is the plain step.
#[allow(clippy::too_many_arguments)]
fn leap(set: &Set, k: usize, m: usize, r: f64, short: f64, ahead: &[f64], shift: &[f64], stays: &mut Vec<f64>) -> f64 {
    let cap = r - set.c[k] + 1.0;
    stays.clear();
    for i in 0..set.len() {
        let (e, t, a) = (set.c[i], set.t[i], ahead[i]);
        let x = r + shift[i];
        let q = (x * set.per_t[i] + ROUNDER) - ROUNDER;
        let over = x - q * t;
        let (q, over) = if over < 0.0 { (q - 1.0, over + t) } else { (q, over) };
        let w = q * e + e.min(over);
        let stay = if cap < w && cap < a {
            w.min(a) - cap
        } else if w < a && over < e {
            (e - over).min(a - w)
        } else {
            continue;
        };
        // The m largest, in falling order.
        let place = stays.partition_point(|&s| s >= stay);
        if place < m {
            stays.truncate(m - 1);
            stays.insert(place, stay);
        }
    }
    let mut best = 0.0f64;
    for (n, &stay) in stays.iter().enumerate() {
        let left = m - n - 1;
        best = best.max(if left == 0 { stay } else { stay.min((short / left as f64).floor()) });
    }
    best.floor() + 1.0
}
