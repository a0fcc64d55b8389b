//! EDF with virtual deadlines (EDF-VD) for two criticality levels, D = T.
//!
//! Baruah, Bonifaci, D'Angelo, Li, Marchetti-Spaccamela, van der Ster and Stougie, "The preemptive uniprocessor
//! scheduling of mixed-criticality implicit-deadline sporadic task systems", ECRTS 2012, theorems 1 and 2. If the LO load
//! of the less critical and the HI load of the critical tasks together are at most one, EDF does as it is. Otherwise
//! critical jobs compete by virtual deadlines V = x·T until the mode changes:
//!
//! ```text
//! x ≥ U_HI(LO) / (1 − U_LO(LO))          all is in time in the LO mode
//! x·U_LO(LO) + U_HI(HI) ≤ 1              critical jobs are in time after it
//! ```
//!
//! Sufficient only; speed-up 4/3, which is best possible. Sums are rounded against the system.

use super::Dual;
use crate::utilisation::{Utilisation, ONE};
use tactus_time::Duration;

/// How EDF-VD runs an accepted set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The relative deadline of each task in the LO mode; a critical task's is its virtual one.
    pub low_mode: Vec<Duration>,
    /// Whether plain EDF without virtual deadlines does.
    pub plain: bool,
}

/// The plan, if the test accepts the set. None also where a deadline is not the period.
pub fn plan(tasks: &[Dual]) -> Option<Plan> {
    if !tasks.iter().all(|τ| τ.deadline == τ.period && (!τ.critical || τ.high <= τ.period)) {
        return None;
    }
    let load = |critical: bool, high: bool| {
        let time = move |τ: &Dual| if high { τ.high.max(τ.low) } else { τ.low };
        tasks.iter().filter(move |τ| τ.critical == critical).map(move |τ| (time(τ), τ.period))
    };
    if Utilisation::of(load(false, false).chain(load(true, true))).at_most(1) {
        return Some(Plan { low_mode: tasks.iter().map(|τ| τ.deadline).collect(), plain: true });
    }
    let over = |u: Utilisation| i128::try_from(u.bracket().1).ok();
    let low = over(Utilisation::of(load(false, false)))?;
    let critical_low = over(Utilisation::of(load(true, false)))?;
    if low >= ONE || critical_low + low > ONE {
        return None;
    }
    let x = up(critical_low << 60, ONE - low);
    let virtual_deadline = |τ: &Dual| {
        let v = up(x * τ.t(), ONE).min(τ.t());
        if τ.critical {
            Duration::from_nanos(v as u64)
        } else {
            τ.deadline
        }
    };
    let low_mode: Vec<Duration> = tasks.iter().map(virtual_deadline).collect();
    let critical = || tasks.iter().zip(&low_mode).filter(|(τ, _)| τ.critical);
    let density = load(false, false).chain(critical().map(|(τ, v)| (τ.low, *v)));
    let low_holds = critical().all(|(_, v)| !v.is_zero()) && Utilisation::of(density).at_most(1);
    let high_holds = holds_after_a_change(tasks, &low_mode, Duration::ZERO);
    (low_holds && high_holds).then_some(Plan { low_mode, plain: false })
}

/// Whether critical jobs are in time after a change of mode, with virtual deadlines as given (theorem 2: the largest part of a period that
/// one is stands for x), where all are in time before it. `blocking` holds up any job once. False where a deadline is not the period.
pub fn holds_after_a_change(tasks: &[Dual], virtual_deadlines: &[Duration], blocking: Duration) -> bool {
    if !tasks.iter().all(|τ| τ.deadline == τ.period) {
        return false;
    }
    let critical = || tasks.iter().zip(virtual_deadlines).filter(|(τ, _)| τ.critical);
    let x = critical().map(|(τ, v)| up(i128::from(v.as_nanos()) << 60, τ.t())).max().unwrap_or(0);
    let shortest = tasks.iter().map(|τ| τ.period).min();
    let blocked = shortest.filter(|_| !blocking.is_zero()).map(|p| (blocking, p));
    let low = Utilisation::of(tasks.iter().filter(|τ| !τ.critical).map(|τ| (τ.low, τ.period))).bracket().1;
    let high = Utilisation::of(critical().map(|(τ, _)| (τ.high.max(τ.low), τ.period)).chain(blocked)).bracket().1;
    match (i128::try_from(low), i128::try_from(high)) {
        (Ok(low), Ok(high)) if low <= ONE => up(x * low, ONE) + high <= ONE,
        _ => false,
    }
}

/// ⌈a / b⌉ for positive b.
fn up(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_deadlines_save_a_set_that_plain_edf_cannot() {
        let ns = Duration::from_nanos;
        let set = |high| {
            [
                Dual { low: ns(4), high: ns(4), period: ns(10), deadline: ns(10), critical: false },
                Dual { low: ns(20), high: ns(high), period: ns(100), deadline: ns(100), critical: true },
            ]
        };
        // U_LO = 0.4, U_HI(LO) = 0.2: x = 1/3, and 1/3 · 0.4 + U_HI(HI) ≤ 1 up to 0.8666; V = ⌈33.3⌉ makes x 0.34.
        assert!(plan(&set(60)).unwrap().plain);
        let p = plan(&set(86)).unwrap();
        assert_eq!((p.plain, p.low_mode), (false, vec![ns(10), ns(34)]));
        assert_eq!(plan(&set(87)), None);
    }
}
