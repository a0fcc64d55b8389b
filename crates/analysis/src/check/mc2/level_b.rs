//! Level B: EDF in what the core's table leaves at level-B times.

use super::super::report::{hundredths, Check, TaskVerdict};
use super::super::sensitivity;
use super::local::Local;
use crate::effort::Effort;
use crate::mc2::supply::Curve;
use crate::task::Sporadic;
use crate::uniprocessor::edf_demand::{self, Demand};
use crate::uniprocessor::edf_response;
use tactus_model::System;
use tactus_task::Bound;
use tactus_time::Duration;

pub(super) fn responses(
    tasks: &[Sporadic],
    entry: Duration,
    curve: &Curve,
    effort: &mut Effort,
) -> Option<Vec<Duration>> {
    let blocking = entry * 2;
    let mut exact = *effort;
    if let Some(r) = edf_response::responses(tasks, blocking, curve, &mut exact) {
        *effort = exact;
        return Some(r);
    }
    let deadlines = || tasks.iter().map(|τ| τ.deadline).collect();
    if blocking.is_zero() && whole_cycles(tasks, curve) {
        return Some(deadlines());
    }
    match edf_demand::schedulable(tasks, blocking, curve, effort) {
        Demand::Fits => Some(deadlines()),
        _ => None,
    }
}

/// The condition of Mollison et al.: level-B periods, and deadlines, are multiples of the table's cycle, and the load
/// is at most one. Then every window to a deadline is a whole number of cycles, of which the table takes its share.
fn whole_cycles(tasks: &[Sporadic], curve: &Curve) -> bool {
    let Some((taken, cycle)) = curve.share() else {
        return false;
    };
    let load = tasks.iter().map(|τ| (τ.execution, τ.period)).chain([(taken, cycle)]);
    tasks.iter().all(|τ| (τ.period % cycle).is_zero() && τ.deadline == τ.period)
        && crate::utilisation::Utilisation::of(load).at_most(1)
}

pub(super) fn judge(system: &System, entry: Duration, local: &Local, check: &mut Check) {
    if local.plan.is_err() {
        return;
    }
    let core = local.core;
    let mut remedy = None;
    for (i, &n) in local.level_b.iter().enumerate() {
        let verdict = &mut check.tasks[n];
        let bound = local.responses.as_ref().map(|r| Bound::Response(r[i] + entry));
        let unbounded = || {
            let effort = &mut Effort::of_core(system.cores);
            match edf_demand::schedulable(&local.sporadic, entry * 2, &local.curve, effort) {
                Demand::Exceeds { window, demand } => {
                    format!("a window of {window} may ask for {demand}, level A and overheads included")
                }
                Demand::Fits | Demand::Overload | Demand::Undecided => {
                    "levels A and B ask for all of the core, overheads included".into()
                }
            }
        };
        verdict.verdict = TaskVerdict::of(bound, verdict.deadline, "EDF beneath the table", unbounded);
        let TaskVerdict::Fails { why: binds, .. } = &verdict.verdict else { continue };
        let load = hundredths(check.cores[core].levels[1]);
        let what = format!(
            "task `{}` of level B on core {core} fails: {binds} (levels A and B ask for {load} of the core at level-B times)",
            verdict.name
        );
        let advice = remedy.take().unwrap_or_else(|| {
            let scale = sensitivity::largest_scale(&local.sporadic, |set| {
                responses(set, entry, &local.curve, &mut Effort::of_core(system.cores).step())
                    .is_some_and(|r| r.iter().zip(set).all(|(r, τ)| *r + entry <= τ.deadline))
            });
            sensitivity::remedy(scale, &format!(" of level B on core {core}"))
        });
        check.fail(system, n, what, advice);
        remedy = Some(format!("see the remedy for level B on core {core} above"));
    }
}
