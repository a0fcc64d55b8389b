//! Utilisation bounds for rate-monotonic priorities, D = T: quick to compute, sufficient only.
//!
//! Liu and Layland, "Scheduling algorithms for multiprogramming in a hard-real-time environment", JACM 20(1), 1973,
//! Theorem 5: Σ Uᵢ ≤ n(2^(1/n) − 1). Bini, Buttazzo and Buttazzo, "Rate monotonic analysis: the hyperbolic bound",
//! IEEE TC 52(7), 2003: Π (Uᵢ + 1) ≤ 2. Both assume independent preemptive tasks, deadlines equal to periods, no
//! jitter, no blocking.

use crate::task::Sporadic;

/// A fraction of 2⁶⁰ in 128 bits leaves room for one product.
const ONE: u128 = 1 << 60;

/// Whether Π (Uᵢ + 1) ≤ 2. Every factor and product is rounded up, so rounding never lets a set pass.
pub fn hyperbolic(tasks: &[Sporadic]) -> bool {
    let mut product = ONE;
    for τ in tasks {
        let (c, t) = (u128::from(τ.execution.as_nanos()), u128::from(τ.period.as_nanos()));
        if c > t {
            return false;
        }
        let factor = ONE + (c << 60).div_ceil(t);
        product = (product * factor).div_ceil(ONE);
        if product > 2 * ONE {
            return false;
        }
    }
    tasks.iter().all(|τ| τ.deadline >= τ.period && τ.jitter.is_zero())
}

/// Whether Σ Uᵢ ≤ n(2^(1/n) − 1), i.e. (1 + ΣUᵢ/n)ⁿ ≤ 2, with every step rounded up.
///
/// Whatever passes here passes [`hyperbolic`]; kept because it is the bound that everybody knows.
pub fn liu_layland(tasks: &[Sporadic]) -> bool {
    let n = tasks.len() as u128;
    if n == 0 {
        return true;
    }
    let u: u128 = tasks
        .iter()
        .map(|τ| (u128::from(τ.execution.as_nanos()) << 60).div_ceil(u128::from(τ.period.as_nanos())))
        .sum();
    if u > ONE {
        return false;
    }
    let factor = ONE + u.div_ceil(n);
    let mut product = ONE;
    for _ in 0..n {
        product = (product * factor).div_ceil(ONE);
        if product > 2 * ONE {
            return false;
        }
    }
    tasks.iter().all(|τ| τ.deadline >= τ.period && τ.jitter.is_zero())
}

/// The Liu–Layland bound n(2^(1/n) − 1) in millionths, rounded down: for people only.
pub fn liu_layland_millionths(n: u32) -> u32 {
    // Bisection on the integer test above keeps floating point out of the crate.
    let passes = |millionths: u128| {
        let factor = ONE + (millionths * ONE / 1_000_000).div_ceil(u128::from(n));
        let mut product = ONE;
        for _ in 0..n {
            product = (product * factor).div_ceil(ONE);
            if product > 2 * ONE {
                return false;
            }
        }
        true
    };
    let (mut low, mut high) = (0u32, 1_000_001u32);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if passes(u128::from(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_time::Duration;

    fn set(pairs: &[(u64, u64)]) -> Vec<Sporadic> {
        pairs.iter().map(|&(c, t)| Sporadic::implicit(Duration::from_millis(c), Duration::from_millis(t))).collect()
    }

    #[test]
    fn the_bound_falls_from_one_towards_the_logarithm_of_two() {
        assert!((999_999..=1_000_000).contains(&liu_layland_millionths(1)));
        assert_eq!(liu_layland_millionths(2), 828_427);
        assert_eq!(liu_layland_millionths(3), 779_763);
        assert_eq!(liu_layland_millionths(10), 717_734);
    }

    #[test]
    fn the_hyperbolic_bound_admits_what_liu_and_layland_must_refuse() {
        // U = 0.8495 > 0.828, but 1.6 · 1.2495 < 2.
        let tasks = set(&[(6, 10), (499, 2000)]);
        assert!(!liu_layland(&tasks));
        assert!(hyperbolic(&tasks));
        assert!(!hyperbolic(&set(&[(6, 10), (501, 2000)])));
    }
}
