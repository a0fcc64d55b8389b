//! Level A: whether each core has a table, and what it takes of the core.

use super::super::assumed::{assumed, id};
use super::super::report::{hundredths, Check, TaskVerdict};
use super::super::sensitivity;
use super::analysis::in_slots;
use super::local::Local;
use crate::mc2::supply::Curve;
use crate::mc2::table::{Cyclic, Plan, Refusal, MOST_SLOTS};
use crate::task::Sporadic;
use tactus_model::System;
use tactus_task::Bound;
use tactus_time::{Duration, Level};

/// What the table takes of any window at a level's times. A stretch may come as late as its slots allow, at most by the
/// largest allowance in the table, and an entry ends it.
pub(super) fn curve(system: &System, plan: &Plan, level: Level, entry: Duration, allowances: &[Duration]) -> Curve {
    let busy = plan.busy(|t| assumed(&system.tasks[t.index()], level) + allowances[t.index()], entry);
    let most = plan.tasks().map(|t| allowances[t.index()]).max().unwrap_or(Duration::ZERO);
    let shift = if entry.is_zero() { Duration::ZERO } else { most + entry * 2 };
    Curve::new(plan.cycle(), &busy, shift)
}

pub(super) fn judge(system: &System, entry: Duration, local: &Local, check: &mut Check) {
    let core = local.core;
    match &local.plan {
        Ok(plan) => {
            for &n in &local.level_a {
                let bound = Bound::Response(plan.response(id(n)) + entry);
                check.tasks[n].verdict = TaskVerdict::bounded(bound, &format!("table of core {core}"));
            }
        }
        Err(refusal) => {
            let load = hundredths(check.cores[core].levels[0]);
            let (place, what) = match *refusal {
                Refusal::Late { task, release, left } => (
                    task.index(),
                    format!(
                        "core {core} has no level-A table: the job of `{}` released at {release} still needs {left} at its deadline (level A asks for {load} of the core)",
                        system.tasks[task.index()].name
                    ),
                ),
                Refusal::TooLong { jobs } => (
                    local.level_a[0],
                    format!("core {core} has no level-A table: one hyperperiod of its periods holds {jobs} jobs; the limit is {MOST_SLOTS}"),
                ),
                Refusal::TooManySlots => (
                    local.level_a[0],
                    format!("core {core} has no level-A table: it would have more than {MOST_SLOTS} slots"),
                ),
            };
            let remedy = match refusal {
                Refusal::Late { .. } => {
                    let set: Vec<Sporadic> = local
                        .level_a
                        .iter()
                        .map(|&n| {
                            Sporadic::new(
                                assumed(&system.tasks[n], Level::A) + in_slots(entry, check.allowances[n]),
                                system.tasks[n].period,
                                system.tasks[n].deadline,
                            )
                        })
                        .collect();
                    let scale = sensitivity::largest_scale(&set, |set| builds(system, local, entry, set));
                    sensitivity::remedy(scale, &format!(" of level A on core {core}"))
                }
                _ => "choose periods that divide each other, e.g. 25, 50 and 100 ms".into(),
            };
            check.fail(system, place, what.clone(), remedy);
            for &n in local.level_a.iter().chain(&local.level_b) {
                check.tasks[n].verdict = TaskVerdict::fails(what.as_str(), format!("core {core} has no table"));
            }
        }
    }
}

/// Whether a table exists for other times of the core's level-A tasks.
pub(super) fn builds(system: &System, local: &Local, entry: Duration, set: &[Sporadic]) -> bool {
    let cyclic = |(&n, τ): (&usize, &Sporadic)| Cyclic {
        task: id(n),
        offset: system.tasks[n].offset,
        period: τ.period,
        deadline: τ.deadline.min(τ.period).saturating_sub(entry),
        time: τ.execution,
    };
    Plan::build(&local.level_a.iter().zip(set).map(cyclic).collect::<Vec<_>>()).is_ok()
}
