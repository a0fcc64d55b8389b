//! BAR, a test of global EDF for constrained deadlines that bounds carry-in to m − 1 tasks.
//!
//! Baruah, "Techniques for multiprocessor global schedulability analysis", RTSS 2007. For every k and every A ≥ 0, with
//! t = A + Dₖ, x = t − Cₖ:
//!
//! ```text
//! Σᵢ I1ᵢ + Σ_{m−1 largest} (I2ᵢ − I1ᵢ) ≤ m·x
//! I1ᵢ = min(DBFᵢ(t), x + 1)    I2ᵢ = min(DBF'ᵢ(t), x + 1)    for i ≠ k;   with Cₖ less, and at most A, for i = k
//! DBF'ᵢ(t) = ⌊t/Tᵢ⌋·Cᵢ + min(Cᵢ, t mod Tᵢ)
//! ```
//!
//! and A up to (C_Σ − Dₖ·(m − U) + Σ(Tᵢ − Dᵢ)·uᵢ + m·Cₖ)/(m − U), C_Σ the sum of the m − 1 largest C.
//!
//! **Our reading.** The paper caps at x. Then m tasks at the cap would pass whatever they demand; time is whole here, and
//! a job that misses is kept waiting for at least x + 1, so x + 1 is the cap (as SchedCAT has it). The paper looks at those A alone
//! at which some DBF steps. In between, the left side may outgrow the right where two or more tasks are at the cap;
//! there every kink up to the next step is looked at too. SchedCAT does not, so it may accept a set that is refused here:
//! [`Points::Steps`] answers as it does.
//!
//! **How it is made quick.** Without caps, the left side depends on k only through Cₖ, so one sum over the tasks decides
//! for all k at once, and where even all carry-in that there can be would not break the condition, ΣDBF, which is kept up
//! from step to step, decides alone. Only the tasks for which that fails are asked one by one.

use crate::global::set::{Set, ROUNDER};

/// Points looked at before the test gives up and refuses: ΣU so near m that the search would not end in time.
pub const MOST_POINTS: usize = 200_000;

/// Memory to work in.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Where some DBF steps, and by how much.
    steps: Vec<(f64, f64)>,
    extra: Vec<f64>,
    carried: Vec<f64>,
    /// Tasks by decreasing C.
    order: Vec<usize>,
}

/// Which A are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Points {
    /// Those at which some DBF steps, as the paper and SchedCAT have it.
    Steps,
    /// In between also every kink, where two tasks or more are at the cap.
    Kinks,
}

/// Whether the test accepts the set. Refuses where ΣU = m, for then the search has no end.
pub fn bar(set: &Set, m: usize, memory: &mut Memory) -> bool {
    search(set, m, Points::Kinks, memory)
}

/// The test with these points.
pub fn search(set: &Set, m: usize, points: Points, memory: &mut Memory) -> bool {
    if !set.fits(m) || !set.constrained() || m < 1 {
        return false;
    }
    let spare = m as f64 - set.utilisation();
    if spare <= 1e-9 {
        return false;
    }
    let n = set.len();
    let Memory { steps, extra, carried, order } = memory;
    order.clear();
    order.extend(0..n);
    order.sort_unstable_by(|&a, &b| set.c[b].total_cmp(&set.c[a]));
    let c_sum: f64 = order.iter().take(m - 1).map(|&i| set.c[i]).sum();
    let late: f64 = (0..n).map(|i| (set.t[i] - set.d[i]) * set.u[i]).sum();
    let horizon = |c: f64| (c_sum + late + m as f64 * c) / spare;
    let Some(&longest) = order.first() else { return true };
    let end = horizon(set.c[longest]) * (1.0 + 1e-9);
    // Points are made a stretch at a time, so that a refusal near the start costs little.
    let first = set.d.iter().copied().fold(f64::INFINITY, f64::min);
    let stretch = set.longest_period();
    let (mut from, mut seen) = (first, 0);
    // What carry-in and taking Cₖ away can come to at most.
    let most = c_sum + (m as f64 - 1.0) * set.c[longest];
    while from <= end {
        let to = from + stretch;
        steps.clear();
        let mut dbf = 0.0;
        for i in 0..n {
            let done = ((from - set.d[i]) / set.t[i]).ceil().max(0.0);
            dbf += done * set.c[i];
            let mut at = set.d[i] + done * set.t[i];
            while at < to && at <= end {
                steps.push((at, set.c[i]));
                at += set.t[i];
            }
        }
        seen += steps.len();
        if seen > MOST_POINTS {
            return false;
        }
        steps.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (place, &(t, c)) in steps.iter().enumerate() {
            dbf += c;
            let next = steps.get(place + 1).map_or(to.min(end), |next| next.0);
            if next == t && place + 1 < steps.len() || dbf + most <= m as f64 * t {
                continue;
            }
            // The C that the uncapped condition still allows at t.
            let allowed = (m as f64 * t - uncapped(set, m, t, carried)) / (m as f64 - 1.0).max(1e-300);
            for &k in order.iter().take_while(|&&k| set.c[k] > allowed) {
                if t < set.d[k] || t > horizon(set.c[k]) {
                    continue;
                }
                let until = if points == Points::Steps { t } else { next };
                if !holds_until(set, m, k, t, until, carried, extra) {
                    return false;
                }
            }
        }
        from = to;
    }
    true
}

/// DBF(t) and the carry-in that may be added to it: min(C, t mod T) before the deadline of the job under way, else nothing.
fn demand(set: &Set, i: usize, t: f64) -> (f64, f64) {
    // The quotient to the nearest, without a division; products of whole numbers tell on which side it lies.
    let q = (t * set.per_t[i] + ROUNDER) - ROUNDER;
    let r = t - q * set.t[i];
    let (q, r) = if r < 0.0 { (q - 1.0, r + set.t[i]) } else { (q, r) };
    if r < set.d[i] {
        (q * set.c[i], set.c[i].min(r))
    } else {
        ((q + 1.0) * set.c[i], 0.0)
    }
}

/// The sum of the `many` largest.
fn largest(values: &mut [f64], many: usize) -> f64 {
    if many == 0 {
        return 0.0;
    }
    if many < values.len() {
        values.select_nth_unstable_by(many - 1, |a, b| b.total_cmp(a));
    }
    values.iter().take(many).sum()
}

/// ΣDBF + carry-in, without caps and without taking Cₖ away.
fn uncapped(set: &Set, m: usize, t: f64, carried: &mut Vec<f64>) -> f64 {
    carried.clear();
    let mut sum = 0.0;
    for i in 0..set.len() {
        let (dbf, carry) = demand(set, i, t);
        sum += dbf;
        carried.push(carry);
    }
    sum + largest(carried, m - 1)
}

/// Whether the condition holds for k at t; with how many tasks at the cap.
fn holds(set: &Set, m: usize, k: usize, t: f64, carried: &mut Vec<f64>) -> (bool, usize) {
    let x = t - set.c[k];
    carried.clear();
    let (mut sum, mut capped) = (0.0, 0);
    for i in 0..set.len() {
        let (dbf, carry) = demand(set, i, t);
        let (low, cap) = if i == k { (dbf - set.c[k], t - set.d[k]) } else { (dbf, x + 1.0) };
        let without = low.min(cap);
        capped += usize::from(low >= cap);
        sum += without;
        carried.push((low + carry).min(cap) - without);
    }
    (sum + largest(carried, m - 1) <= m as f64 * x, capped)
}

/// Whether the condition holds for k from the step at t until just before the next one.
fn holds_until(set: &Set, m: usize, k: usize, t: f64, next: f64, carried: &mut Vec<f64>, extra: &mut Vec<f64>) -> bool {
    let (good, capped) = holds(set, m, k, t, carried);
    if !good || capped < 2 {
        return good;
    }
    // Where a term stops growing or leaves its cap.
    extra.clear();
    for i in 0..set.len() {
        let (dbf, _) = demand(set, i, t);
        let q = (t / set.t[i]).floor();
        let full = q * set.t[i] + set.c[i];
        let shift = if i == k { set.d[k] - set.c[k] } else { set.c[k] - 1.0 };
        extra.extend([full, dbf + shift, dbf + set.c[i] + shift]);
    }
    extra.push(next - 1.0);
    extra.retain(|&at| t < at && at < next);
    extra.iter().all(|&at| holds(set, m, k, at, carried).0)
}
