//! The harmonic-chain bound for rate-monotonic priorities, D = T: quick to compute, sufficient only.
//!
//! Kuo and Mok, "Load adjustment in adaptive real-time systems", RTSS 1991: if the periods can be split into k chains
//! in each of which every period divides the next longer one, Σ Uᵢ ≤ k(2^(1/k) − 1) suffices. With one chain the
//! bound is one and the test exact. Fewest chains are found as in Dilworth's theorem: divisibility is transitive, so
//! a largest matching of periods with multiples leaves n − |matching| chains. Assumes what
//! [`super::utilisation_bounds`] assumes: independent preemptive tasks, no jitter, no blocking.

use crate::task::Sporadic;
use crate::utilisation::Utilisation;

/// A fraction of 2⁶⁰ in 128 bits leaves room for one product.
const ONE: u128 = 1 << 60;

/// Whether the set passes the bound of its fewest harmonic chains. Rounding never lets a set pass.
pub fn harmonic_chains(tasks: &[Sporadic]) -> bool {
    if !tasks.iter().all(|τ| τ.deadline >= τ.period && τ.jitter.is_zero()) {
        return false;
    }
    let u = Utilisation::of(tasks.iter().map(|τ| (τ.execution, τ.period)));
    let k = chains(tasks);
    if k <= 1 {
        return u.at_most(1);
    }
    let (_, high) = u.bracket();
    if high > ONE {
        return false;
    }
    // U ≤ k(2^(1/k) − 1) is (1 + U/k)^k ≤ 2.
    let factor = ONE + high.div_ceil(k as u128);
    let mut product = ONE;
    (0..k).all(|_| {
        product = (product * factor).div_ceil(ONE);
        product <= 2 * ONE
    })
}

/// The fewest chains of periods, each dividing the next, that hold all tasks.
pub fn chains(tasks: &[Sporadic]) -> usize {
    let n = tasks.len();
    let before = |i: usize, j: usize| {
        let (p, q) = (tasks[i].period.as_nanos(), tasks[j].period.as_nanos());
        i != j && q % p == 0 && (p, i) < (q, j)
    };
    let mut matched: Vec<Option<usize>> = vec![None; n];
    let mut found = 0;
    for i in 0..n {
        let mut seen = vec![false; n];
        found += usize::from(augment(i, n, &before, &mut matched, &mut seen));
    }
    n - found
}

/// One augmenting path of the bipartite matching, from task `i` to a multiple of its period.
fn augment(
    i: usize,
    n: usize,
    before: &impl Fn(usize, usize) -> bool,
    matched: &mut [Option<usize>],
    seen: &mut [bool],
) -> bool {
    for j in 0..n {
        if before(i, j) && !std::mem::replace(&mut seen[j], true) {
            let free = match matched[j] {
                None => true,
                Some(other) => augment(other, n, before, matched, seen),
            };
            if free {
                matched[j] = Some(i);
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_time::Duration;

    fn set(pairs: &[(u64, u64)]) -> Vec<Sporadic> {
        pairs.iter().map(|&(c, t)| Sporadic::implicit(Duration::from_millis(c), Duration::from_millis(t))).collect()
    }

    #[test]
    fn periods_that_divide_each_other_may_fill_the_processor() {
        let tasks = set(&[(1, 2), (1, 4), (2, 8)]);
        assert_eq!(chains(&tasks), 1);
        assert!(harmonic_chains(&tasks));
        assert!(!harmonic_chains(&set(&[(1, 2), (1, 4), (3, 8)])));
    }

    #[test]
    fn two_chains_share_the_bound_of_two_tasks() {
        // 2, 4, 12 and 3, 9: two chains, though 3 also divides 12.
        let tasks = set(&[(1, 2), (0, 3), (1, 4), (0, 9), (0, 12)]);
        assert_eq!(chains(&tasks), 2);
        assert!(harmonic_chains(&tasks), "0.75 ≤ 0.828");
        assert!(!harmonic_chains(&set(&[(1, 2), (1, 3)])), "0.833 > 0.828");
    }
}
