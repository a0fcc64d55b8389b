//! Adaptive mixed criticality, maximum over the instants of the mode change (AMC-max).
//!
//! Baruah, Burns and Davis, RTSS 2011, section IV-C. For a mode change s after the critical instant:
//!
//! ```text
//! Rᵢˢ      = Cᵢ(HI) + Σ_{k ∈ hpL} (⌊s/Tₖ⌋ + 1)·Cₖ(LO) + Σ_{j ∈ hpH} ( M·Cⱼ(HI) + (⌈Rᵢˢ/Tⱼ⌉ − M)·Cⱼ(LO) )
//! M(j,s,t) = min( ⌈(t − s − (Tⱼ − Dⱼ))/Tⱼ⌉ + 1, ⌈t/Tⱼ⌉ )
//! Rᵢ(HI)   = max of Rᵢˢ over s = 0 and the less critical releases before Rᵢ(LO)
//! ```
//!
//! M counts the jobs of τⱼ that may still execute after s, which supposes that earlier ones ended by their deadlines.
//! Sufficient only.

use super::{all, fixed_point, Dual, Promise};
use crate::effort::Effort;
use crate::task::ceil_div;

/// The promise of every task, the most urgent first.
pub fn promises(tasks: &[Dual], effort: &mut Effort) -> Vec<Promise> {
    all(tasks, effort, |i, low, effort| {
        let higher = &tasks[..i];
        let mut instants = vec![0];
        for k in higher.iter().filter(|h| !h.critical) {
            let mut s = k.t();
            while s < low {
                if !effort.spend(1) {
                    return None;
                }
                instants.push(s);
                s += k.t();
            }
        }
        instants.sort_unstable();
        instants.dedup();
        let mut worst = 0;
        for s in instants {
            let r = fixed_point(&tasks[i], tasks[i].c_high(), i, effort, |r| {
                higher.iter().map(|h| work(h, s, r)).sum::<i128>()
            })?;
            worst = worst.max(r);
        }
        Some(worst)
    })
}

/// What a more urgent task takes of a window t with the mode change at s.
fn work(τ: &Dual, s: i128, t: i128) -> i128 {
    if !τ.critical {
        return (s.div_euclid(τ.t()) + 1) * τ.c_low();
    }
    let all = ceil_div(t, τ.t());
    let after = (ceil_div(t - s - (τ.t() - τ.d()), τ.t()) + 1).clamp(0, all);
    after * τ.c_high() + (all - after) * τ.c_low()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixed::{amc_rtb, smc};
    use tactus_time::Duration;

    fn dual(low: u64, high: u64, t: u64, d: u64, critical: bool) -> Dual {
        let ns = Duration::from_nanos;
        Dual { low: ns(low), high: ns(high), period: ns(t), deadline: ns(d), critical }
    }

    #[test]
    fn each_test_is_sharper_than_the_one_before() {
        // By hand. SMC: 8 + ⌈R/10⌉·2 + ⌈R/25⌉·5: 8, 15, 17, 17. Beneath both, rtb: R(LO) of the last is 4 + 2 + 2 = 8.
        let tasks = [dual(2, 0, 10, 10, false), dual(2, 5, 25, 25, true), dual(4, 8, 50, 50, true)];
        let e = &mut Effort::default();
        let high = |p: Vec<Promise>| p[2].high.unwrap().as_nanos();
        assert_eq!(high(smc::promises(&tasks, e)), 17);
        assert_eq!(high(amc_rtb::promises(&tasks, e)), 15);
        assert_eq!(high(promises(&tasks, e)), 15);
    }
}
