//! The tests of all levels at one set of allowances.

use super::super::assumed::{assumed, id};
use super::local::{instants, of_level, Analysis, Local};
use super::{level_a, level_b, level_c};
use crate::effort::Effort;
use crate::global::tardiness::{self, Supply};
use crate::mc2::supply::Curve;
use crate::mc2::table::{Cyclic, Plan};
use crate::task::Sporadic;
use tactus_model::System;
use tactus_time::{Duration, Level};

pub(super) fn analyse(system: &System, entry: Duration, allowances: &[Duration]) -> Analysis {
    let locals: Vec<Local> = (0..system.cores).map(|core| local(system, core, entry, allowances)).collect();
    let level_c = of_level(system, Level::C, None);
    let supply: Vec<Supply> = locals.iter().map(|l| level_c::supply(system, l, entry, allowances)).collect();
    let instants = instants(system, &locals);
    let sporadic: Vec<Sporadic> = level_c
        .iter()
        .map(|&n| {
            let t = &system.tasks[n];
            // Its release and completion may each take 2E to reach the core concerned.
            let e = assumed(t, Level::C) + allowances[n] + entry * 4;
            Sporadic::new(e + level_c::detours(system, &instants, entry, e), t.period, t.deadline)
        })
        .collect();
    let late = tardiness::bounds(&sporadic, &supply);
    Analysis { locals, level_c, late, supply, sporadic }
}

fn local(system: &System, core: usize, entry: Duration, allowances: &[Duration]) -> Local {
    let level_a = of_level(system, Level::A, Some(core));
    let level_b = of_level(system, Level::B, Some(core));
    let cyclic = |&n: &usize| {
        let t = &system.tasks[n];
        Cyclic {
            task: id(n),
            offset: t.offset,
            period: t.period,
            deadline: t.deadline.min(t.period).saturating_sub(entry),
            time: assumed(t, Level::A) + in_slots(entry, allowances[n]),
        }
    };
    let plan = Plan::build(&level_a.iter().map(cyclic).collect::<Vec<_>>());
    let curve = plan.as_ref().map_or(Curve::default(), |p| level_a::curve(system, p, Level::B, entry, allowances));
    let sporadic: Vec<Sporadic> = level_b
        .iter()
        .map(|&n| {
            let t = &system.tasks[n];
            Sporadic::new(assumed(t, Level::B) + allowances[n] + entry * 2, t.period, t.deadline)
        })
        .collect();
    let responses = if plan.is_ok() {
        level_b::responses(&sporadic, entry, &curve, &mut Effort::of_core(system.cores))
    } else {
        None
    };
    Local { core, level_a, level_b, plan, sporadic, curve, responses }
}

/// What of an allowance slots hold: a table without the system's own work is that of execution times, and what a job is charged
/// beyond its slots waits for the next.
pub(super) fn in_slots(entry: Duration, allowance: Duration) -> Duration {
    if entry.is_zero() {
        Duration::ZERO
    } else {
        allowance
    }
}
