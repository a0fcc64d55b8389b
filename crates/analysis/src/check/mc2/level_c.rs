//! Level C: global EDF in what levels A and B of all cores leave at level-C times.

use super::super::assumed::assumed;
use super::super::report::{hundredths, Check, TaskVerdict};
use super::super::sensitivity;
use super::level_a;
use super::local::{of_level, Analysis, Local};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::global::bertogna_cirinei;
use crate::global::tardiness::{self, Supply, Unbounded};
use crate::mc2::supply::Curve;
use crate::task::{ceil_div, to_duration, Dedicated, Sporadic, Withheld};
use tactus_model::System;
use tactus_task::Bound;
use tactus_time::{Duration, Level};

/// What core gives to level C.
pub(super) fn supply(system: &System, local: &Local, entry: Duration, allowances: &[Duration]) -> Supply {
    let mut supply = Supply::full();
    if let Ok(plan) = &local.plan {
        let curve = level_a::curve(system, plan, Level::C, entry * 3, allowances);
        supply.taken.extend(curve.share());
        supply.gap += curve.excess();
    }
    for (i, &n) in local.level_b.iter().enumerate() {
        let t = &system.tasks[n];
        let e = level_b_at_c(system, n, entry, allowances);
        let r = local.responses.as_ref().map_or(t.deadline, |r| r[i]).max(e);
        supply.taken.push((e, t.period));
        let behind = i128::from((r + t.period).as_nanos()) - 2 * i128::from(e.as_nanos());
        let share = ceil_div(i128::from(e.as_nanos()) * behind.max(0), i128::from(t.period.as_nanos()));
        supply.gap += to_duration(share);
    }
    supply
}

/// The time that a level-C job which executes for `e` may spend on its way to other cores: 2E for every release instant
/// or slot boundary in a window of its execution, and for every ghost of level B that ends there.
pub(super) fn detours(system: &System, instants: &Instants, entry: Duration, e: Duration) -> Duration {
    if entry.is_zero() {
        return Duration::ZERO;
    }
    // The window holds the detours too; one that is twice as long as the execution has room for as many.
    let mut window = e * 2;
    for _ in 0..16 {
        let ghosts: u64 = of_level(system, Level::B, None).iter().map(|&n| window / system.tasks[n].period + 1).sum();
        let detours = (entry * 2).checked_mul(instants.most_in(window) + ghosts).unwrap_or(Duration::MAX);
        if detours <= window - e {
            return detours;
        }
        window = window * 2;
    }
    // No room in any window that matters: as good as overload.
    Duration::from_secs(1_000_000)
}

/// What levels A and B take of one core at level-C times.
struct Above {
    curve: Curve,
    /// The tasks of level B and how long before their deadlines they end.
    level_b: Vec<(Sporadic, i128)>,
}

impl Withheld for Above {
    fn at_most(&self, window: Duration) -> Duration {
        let w = i128::from(window.as_nanos());
        let level_b = self.level_b.iter().map(|(τ, slack)| bertogna_cirinei::work(τ, w, *slack)).sum::<i128>();
        to_duration(level_b + i128::from(self.curve.at_most(window).as_nanos()))
    }
}

/// Whether every level-C deadline is shown to be met.
fn punctual(system: &System, entry: Duration, analysis: &Analysis, allowances: &[Duration]) -> bool {
    let above: Option<Vec<Above>> = analysis
        .locals
        .iter()
        .map(|l| {
            let curve = level_a::curve(system, l.plan.as_ref().ok()?, Level::C, entry * 3, allowances);
            let one = |(&n, r): (&usize, &Duration)| {
                let t = &system.tasks[n];
                let τ = Sporadic::new(level_b_at_c(system, n, entry, allowances), t.period, t.deadline);
                let slack = τ.d() - i128::from((*r).max(τ.execution).as_nanos());
                (τ, slack)
            };
            let level_b = l.level_b.iter().zip(l.responses.as_ref()?).map(one).collect();
            Some(Above { curve, level_b })
        })
        .collect();
    let Some(above) = above else { return false };
    let pinned: Vec<&dyn Withheld> = above.iter().map(|a| a as &dyn Withheld).collect();
    let mut effort = Effort::default();
    let r = bertogna_cirinei::edf_responses(&analysis.sporadic, system.cores, &pinned, &Dedicated, &mut effort);
    r.iter().zip(&analysis.sporadic).all(|(r, τ)| r.is_some_and(|r| r <= τ.deadline))
}

/// What a level-B job takes of its core from level C: its execution at level-C times, its allowance, and the detours
/// of level-C jobs that it displaces when it starts and when a ghost before it ends.
fn level_b_at_c(system: &System, n: usize, entry: Duration, allowances: &[Duration]) -> Duration {
    assumed(&system.tasks[n], Level::C) + allowances[n] + entry * 6
}

pub(super) fn judge(system: &System, entry: Duration, analysis: &Analysis, check: &mut Check) {
    if punctual(system, entry, analysis, &check.allowances) {
        for &n in &analysis.level_c {
            let by = "global EDF beneath A and B; every deadline is met";
            check.tasks[n].verdict = TaskVerdict::bounded(Bound::Tardiness(Duration::ZERO), by);
        }
        return;
    }
    match &analysis.late {
        Ok(late) => {
            for (&n, late) in analysis.level_c.iter().zip(late) {
                // Bounds of A and B carry level C: without them there is none.
                check.tasks[n].verdict = match analysis.locals.iter().all(|l| l.plan.is_ok() && l.responses.is_some()) {
                    true => TaskVerdict::bounded(Bound::Tardiness(*late), "global EDF beneath A and B"),
                    false => {
                        let why = "levels A and B fail, so level C has no known supply";
                        TaskVerdict::fails(why, why)
                    }
                };
            }
        }
        Err(reason) => {
            let (place, what) = match *reason {
                Unbounded::Overload { utilisation, supply } => (
                    0,
                    format!(
                        "level C asks for {} cores; levels A and B leave {} at level-C times, overheads included",
                        hundredths(utilisation),
                        hundredths(supply.saturating_sub(9_999))
                    ),
                ),
                Unbounded::TooHeavy(k) => {
                    (k, format!("task `{}` of level C needs more than its period", system.tasks[analysis.level_c[k]].name))
                }
                Unbounded::TooSparse(k) => (
                    k,
                    format!(
                        "level C has no tardiness bound: beside task `{}` and the heaviest others too little of the cores is always available",
                        system.tasks[analysis.level_c[k]].name
                    ),
                ),
            };
            let scale =
                sensitivity::largest_scale(&analysis.sporadic, |set| tardiness::bounds(set, &analysis.supply).is_ok());
            for &n in &analysis.level_c {
                check.tasks[n].verdict = TaskVerdict::fails(what.as_str(), "no tardiness bound");
            }
            check.fail(system, analysis.level_c[place], what, sensitivity::remedy(scale, " of level C"));
        }
    }
}
