//! Sensitivity under MC²: by how much the time of a task's own level may grow.
//!
//! Level A: its core still has a table. Level B: every level-B response of its core is still in time beneath the table.
//! Level C: there is still a tardiness bound; looked for at a few parts of the capacity that is left, since the bound is dear
//! to find where little is left, so the margin is one that is there, not the largest. Budgets for overheads stay as settled.

use super::super::growth::{self, Growth, SearchBudget};
use super::analysis::in_slots;
use super::local::Local;
use super::{allowance, level_a, level_b};
use crate::effort::Effort;
use crate::global::tardiness::{self, Supply};
use crate::task::Sporadic;
use crate::utilisation::{Utilisation, ONE};
use tactus_model::System;
use tactus_time::{Duration, Level};

/// What building one table costs, in terms per slot and task.
const OF_A_SLOT: usize = 4;
/// What finding one tardiness bound costs, in terms per task.
const OF_A_BOUND: usize = 3000;

pub(super) fn search(
    system: &System,
    (entry, budgeted): (Duration, Duration),
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    let allowance::Settled { allowances, analysis, open } = allowance::settle(system, entry, budgeted);
    for local in &analysis.locals {
        on_core(system, entry, local, &allowances, search, growth);
    }
    for (i, &n) in analysis.level_c.iter().enumerate() {
        growth[n] = of_level_c(&analysis.sporadic, i, &analysis.supply, search);
    }
    // What does not settle has no promise that could turn.
    for n in open {
        growth[n] = Growth::Unknown;
    }
    for (n, task) in system.tasks.iter().enumerate() {
        if task.level == Some(Level::D) {
            growth[n] = Growth::Unknown;
        }
    }
}

/// The largest looked-at part of the capacity left to level C by which task i may grow.
fn of_level_c(tasks: &[Sporadic], i: usize, supply: &[Supply], search: &mut SearchBudget) -> Growth {
    let asked = tasks.iter().map(|τ| (τ.execution, τ.period));
    let taken = supply.iter().flat_map(|s| s.taken.iter().copied());
    let load = Utilisation::of(asked.chain(taken)).bracket().1;
    let left = (supply.len() as u128 * ONE as u128).saturating_sub(load);
    let own = &tasks[i];
    // What is left of the cores, and of one core beside the task itself, as execution time.
    let period = u128::from(own.period.as_nanos());
    let room = own.period.saturating_sub(own.execution);
    let most = Duration::from_nanos(((left * period) >> 60) as u64).min(room);
    let mut set = tasks.to_vec();
    let mut with = |more: Duration| {
        set[i].execution = own.execution + more;
        search.ask(Effort::default(), |effort| {
            effort.spend(set.len() * OF_A_BOUND) && tardiness::bounds(&set, supply).is_ok()
        })
    };
    if with(Duration::ZERO) != Some(true) {
        return Growth::Unknown;
    }
    for sixteenths in [15, 12, 8, 4, 2, 1] {
        let more = Duration::from_nanos((u128::from(most.as_nanos()) * sixteenths / 16) as u64);
        match with(more) {
            Some(true) => return Growth::By(more),
            Some(false) => {}
            None => return Growth::Unknown,
        }
    }
    Growth::By(Duration::ZERO)
}

fn on_core(
    system: &System,
    entry: Duration,
    local: &Local,
    allowances: &[Duration],
    search: &mut SearchBudget,
    growth: &mut [Growth],
) {
    let of_a = |&n: &usize| {
        let t = &system.tasks[n];
        let own = super::super::assumed::assumed(t, Level::A) + in_slots(entry, allowances[n]);
        Sporadic::new(own, t.period, t.deadline)
    };
    let tasks: Vec<Sporadic> = local.level_a.iter().map(of_a).collect();
    let slots = local.plan.as_ref().map_or(64, |p| p.tasks().count());
    for (i, &n) in local.level_a.iter().enumerate() {
        let mut passes = |set: &[Sporadic]| {
            search.ask(Effort::default(), |effort| {
                effort.spend(slots * (tasks.len() + 8) * OF_A_SLOT) && level_a::builds(system, local, entry, set)
            })
        };
        growth[n] = growth::of(&tasks, i, system.tasks[n].period, &mut passes);
    }
    if local.plan.is_err() {
        return;
    }
    for (i, &n) in local.level_b.iter().enumerate() {
        let mut passes = |set: &[Sporadic]| {
            search.ask(Effort::of_core(system.cores), |effort| {
                level_b::responses(set, entry, &local.curve, effort)
                    .is_some_and(|r| r.iter().zip(set).all(|(r, τ)| *r + entry <= τ.deadline))
            })
        };
        growth[n] = growth::of(&local.sporadic, i, system.tasks[n].period, &mut passes);
    }
}
