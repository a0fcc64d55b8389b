//! Quest-V's admission of virtual processors: main VCPUs as sporadic servers, I/O VCPUs as PIBS.
//!
//! West, Li and Missimer, "Time management in the Quest-V RTOS", OSPERT 2012, section on admission; the bound for PIBS
//! is Danish, Li and West, RTAS 2011. For n main VCPUs (C, T) and m I/O VCPUs of share U on one core:
//!
//! ```text
//! Σ_{i<n} Cᵢ/Tᵢ + Σ_{j<m} (2 − Uⱼ)·Uⱼ ≤ n·(2^(1/n) − 1)
//! ```
//!
//! with the n-th root (the print shows a cube root, with which the paper's own example would fail). A PIBS of share U
//! may take (2 − U)·U·T of a window T: U·T·(1 − U) at once, and after the one replenishment that this delays by
//! T·(1 − U) a whole U·T. Assumes rate-monotonic priorities of the VCPUs; sufficient only.

use tactus_time::Duration;

/// A fraction of 2⁶⁰ in 128 bits leaves room for one product.
const ONE: u128 = 1 << 60;

/// The left side of the bound in millionths, to the nearest: for people.
pub fn load_millionths(main: &[(Duration, Duration)], io: &[(u64, u64)]) -> u64 {
    load(main, io).map_or(u64::MAX, |l| ((l * 1_000_000 + ONE / 2) / ONE) as u64)
}

/// Whether the core admits them: main VCPUs as (C, T), I/O VCPUs as shares (numerator, denominator). Every step is
/// rounded against the set. Without a main VCPU the bound says nothing, and a share over one or a period of zero is
/// refused.
pub fn admits(main: &[(Duration, Duration)], io: &[(u64, u64)]) -> bool {
    let n = main.len() as u128;
    let Some(load) = load(main, io).filter(|l| *l <= ONE && n > 0) else { return false };
    let factor = ONE + load.div_ceil(n);
    let mut product = ONE;
    (0..n).all(|_| {
        product = (product * factor).div_ceil(ONE);
        product <= 2 * ONE
    })
}

/// Σ C/T + Σ (2 − U)U in units of 2⁻⁶⁰, rounded up.
fn load(main: &[(Duration, Duration)], io: &[(u64, u64)]) -> Option<u128> {
    let share = |(n, d): (u64, u64)| (n <= d && d > 0).then(|| (u128::from(n) << 60).div_ceil(u128::from(d)));
    let mut load = 0;
    for (c, t) in main {
        load += share((c.as_nanos(), t.as_nanos()))?;
    }
    for &u in io {
        // (2 − U)U grows with U up to one, so rounding U up rounds the whole up.
        let u = share(u)?;
        load += ((2 * ONE - u) * u).div_ceil(ONE);
    }
    Some(load)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quest_v_s_figure_4_is_admitted_with_0_7284_against_0_8284() {
        let ms = Duration::from_millis;
        let main = [(ms(10), ms(40)), (ms(20), ms(50))];
        assert_eq!(load_millionths(&main, &[(4, 100)]), 728_400);
        assert!(admits(&main, &[(4, 100)]));
        // 0.65 + (2 − U)U ≤ 0.82842… up to U = 0.09359.
        assert!(admits(&main, &[(935, 10_000)]) && !admits(&main, &[(936, 10_000)]));
    }

    #[test]
    fn a_third_vcpu_is_admitted_up_to_the_bound_of_three_and_refused_beyond() {
        let ms = Duration::from_millis;
        let with = |c: u64| admits(&[(ms(10), ms(40)), (ms(20), ms(50)), (ms(c), ms(100))], &[(4, 100)]);
        // 0.7284 + C/100 of 0.7797….
        assert!(with(5) && !with(6));
        // Two I/O VCPUs beside the two main ones: 0.7284 + 1.94 · 0.06 of 0.8284.
        assert!(!admits(&[(ms(10), ms(40)), (ms(20), ms(50))], &[(4, 100), (6, 100)]));
    }

    #[test]
    fn an_input_that_is_no_share_is_refused() {
        let ms = Duration::from_millis;
        assert!(!admits(&[(ms(5), ms(4))], &[]) && !admits(&[(ms(1), ms(4))], &[(3, 2)]) && !admits(&[], &[]));
    }
}
