//! Tests beside those of global EDF that a study can ask for: one core's, global fixed priorities, and the yardstick.
//!
//! The yardstick, `feasible`, accepts whatever any scheduler could: exact on one core (processor demand, Baruah, Mok and
//! Rosier 1990), and where deadlines are periods exact on many too (ΣU ≤ m with every U ≤ 1, Baruah et al. 1996); with shorter
//! deadlines on many cores ΣU ≤ m is only necessary.

use tactus_analysis::effort::Effort;
use tactus_analysis::global::fixed_priority as global;
use tactus_analysis::global::set::{Set, MARGIN};
use tactus_analysis::task::{Dedicated, Sporadic};
use tactus_analysis::uniprocessor::{
    edf_demand, fixed_priority, harmonic, nonpreemptive_edf, nonpreemptive_fp, utilisation_bounds,
};
use tactus_time::Duration;

/// What a search may spend on one set; what it does not decide counts as refused.
const EFFORT: Effort = Effort::terms(20_000_000);

/// A test.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Single {
    /// What any scheduler could do.
    Feasible,
    /// EDF on one core: processor demand.
    Edf,
    /// EDF on one core: Σ C/min(D, T) ≤ 1.
    EdfDensity,
    /// EDF on one core without preemption.
    NonPreemptiveEdf,
    /// Deadline-monotonic priorities on one core: response times.
    Dm,
    /// The same without preemption.
    NonPreemptiveDm,
    /// Rate-monotonic priorities: Liu and Layland's bound.
    LiuLayland,
    /// Rate-monotonic priorities: hyperbolic bound.
    Hyperbolic,
    /// Rate-monotonic priorities: harmonic chains.
    Harmonic,
    /// Global deadline-monotonic priorities: BCL.
    GlobalDmBcl,
    /// Global deadline-monotonic priorities: responses with limited carry-in.
    GlobalDm,
}

/// All of them, each with its name in a study file.
pub const ALL: [(Single, &str); 11] = [
    (Single::Feasible, "feasible"),
    (Single::Edf, "EDF"),
    (Single::EdfDensity, "EDF-density"),
    (Single::NonPreemptiveEdf, "NP-EDF"),
    (Single::Dm, "DM"),
    (Single::NonPreemptiveDm, "NP-DM"),
    (Single::LiuLayland, "LL"),
    (Single::Hyperbolic, "hyperbolic"),
    (Single::Harmonic, "harmonic"),
    (Single::GlobalDmBcl, "G-DM-BCL"),
    (Single::GlobalDm, "G-DM"),
];

impl Single {
    /// Whether it speaks of one core only.
    pub fn of_one_core(self) -> bool {
        !matches!(self, Single::Feasible | Single::GlobalDm | Single::GlobalDmBcl)
    }

    /// Whether it accepts the set on m cores; for a test of one core m is one.
    pub fn accepts(self, set: &Set, m: usize) -> bool {
        let ns = |x: f64| Duration::from_nanos(x as u64);
        let mut tasks: Vec<Sporadic> =
            (0..set.len()).map(|i| Sporadic::new(ns(set.c[i]), ns(set.t[i]), ns(set.d[i]))).collect();
        // The most urgent first, of equals the first.
        tasks.sort_by_key(|τ| τ.deadline);
        let in_time = |r: Option<Duration>, τ: &Sporadic| r.is_some_and(|r| r <= τ.deadline);
        let effort = &mut EFFORT.clone();
        match self {
            Single::Feasible if m > 1 => set.possible() && set.utilisation() <= m as f64 * (1.0 + MARGIN),
            Single::Feasible | Single::Edf => {
                edf_demand::schedulable(&tasks, Duration::ZERO, &Dedicated, effort) == edf_demand::Demand::Fits
            }
            Single::EdfDensity => set.possible() && set.density() <= 1.0 - MARGIN,
            Single::NonPreemptiveEdf => nonpreemptive_edf::responses(&tasks, effort)
                .is_some_and(|all| all.into_iter().zip(&tasks).all(|(r, τ)| in_time(Some(r), τ))),
            Single::Dm => (0..tasks.len()).all(|i| {
                let r = fixed_priority::response(&tasks[i], &tasks[..i], Duration::ZERO, &Dedicated, effort);
                in_time(r, &tasks[i])
            }),
            Single::NonPreemptiveDm => (0..tasks.len()).all(|i| {
                let r = nonpreemptive_fp::response(&tasks[i], &tasks[..i], &tasks[i + 1..], effort);
                in_time(r, &tasks[i])
            }),
            Single::LiuLayland => utilisation_bounds::liu_layland(&tasks),
            Single::Hyperbolic => utilisation_bounds::hyperbolic(&tasks),
            Single::Harmonic => harmonic::harmonic_chains(&tasks),
            Single::GlobalDmBcl => global::bcl(&tasks, m),
            Single::GlobalDm => {
                global::responses(&tasks, m, effort).into_iter().zip(&tasks).all(|(r, τ)| in_time(r, τ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(tasks: &[(u64, u64, u64)]) -> Vec<&'static str> {
        let mut set = Set::new();
        tasks.iter().for_each(|&(c, t, d)| set.push(c, t, d));
        ALL.iter().filter(|(test, _)| test.accepts(&set, 1)).map(|(_, name)| *name).collect()
    }

    #[test]
    fn the_example_of_the_books_fails_under_fixed_priorities_and_passes_under_edf() {
        // Responses 2, 7 and 26 > 25 under rate-monotonic priorities; utilisation 0.93.
        let names = answers(&[(2, 10, 10), (5, 15, 15), (10, 25, 25)]);
        assert_eq!(names, ["feasible", "EDF", "EDF-density"]);
    }

    #[test]
    fn a_light_set_passes_every_test() {
        assert_eq!(answers(&[(10, 100, 100), (10, 200, 200)]).len(), ALL.len());
    }
}
