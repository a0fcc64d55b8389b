//! MC²: the tables of level A, EDF of level B beneath them, global EDF of level C beneath both.
//!
//! **Level A.** Slots are e_A plus the task's allowance. A job that takes at most e_A is charged at most its slots, so it ends by
//! the end of its last one, plus one entry until that is noticed.
//!
//! **Level B.** In a slot whose job is finished the levels beneath run, whether or not ghosts are kept. So at level-B times
//! the table takes e_B plus each task's allowance, from the front of each job's slots, and the core is left to EDF otherwise.
//! A level-B job uses up e_B plus the allowance at its own level even if it ends early, for its ghost does. The test is
//! EDF demand and response times ([`edf_response`]) against what the table takes of a window ([`Curve`]), at worst
//! phase. It subsumes the original condition (Mollison et al. 2010: Σu_B ≤ 1 and level-B periods that are multiples of
//! the table's cycle): over whole cycles the curve takes exactly the table's share.
//!
//! **Level C.** [`tardiness`]: core h gives C the rate 1 − Σ u_C of its A and B tasks, behind by at most the curve's excess
//! at level-C times for A, and uᵢ(Rᵢ + pᵢ − 2eᵢ) for each B task with response bound Rᵢ: a job's work may come as late
//! as Rᵢ in one period and at once in the next. Where Bertogna and Cirinei's test shows all deadlines of level C met, with
//! A and B of each core as pinned work, the tardiness is zero instead.
//!
//! A core that closes to level C sends its job elsewhere, which takes up to 2E; that is put on the A and B jobs that
//! close cores, and on each C job for every closing that may hit it while it executes.
//!
//! **The allowance** of a task is the most that one of its jobs is charged beyond its execution time; see [`allowance`].

mod allowance;
mod growth;
mod level_a;
mod level_b;
mod level_c;
mod summary;

use super::growth::{Growth, SearchBudget};
use super::report::Check;
use super::{assumed, id};
use crate::arrivals::Instants;
use crate::effort::Effort;
use crate::global::tardiness::{self, Supply, Unbounded};
use crate::mc2::supply::Curve;
use crate::mc2::table::{Cyclic, Plan, Refusal};
use crate::task::Sporadic;
use tactus_model::System;
use tactus_time::{Duration, Level};

/// What one core's levels A and B come to.
struct Local {
    core: usize,
    level_a: Vec<usize>,
    level_b: Vec<usize>,
    plan: Result<Plan, Refusal>,
    /// The level-B tasks and what the table takes, as the test sees them.
    sporadic: Vec<Sporadic>,
    curve: Curve,
    /// Response bounds in the order of `level_b`; nothing where the test gives none.
    responses: Option<Vec<Duration>>,
}

/// The whole system at one set of allowances.
struct Analysis {
    locals: Vec<Local>,
    level_c: Vec<usize>,
    /// Tardiness bounds in the order of `level_c`.
    late: Result<Vec<Duration>, Unbounded>,
    supply: Vec<Supply>,
    sporadic: Vec<Sporadic>,
}

pub(crate) fn check(system: &System, entry: Duration, check: &mut Check) {
    let allowance::Settled { allowances, analysis, open } = allowance::settle(system, entry);
    check.allowances = allowances;
    for local in &analysis.locals {
        check.tables.push(local.plan.as_ref().map(Plan::table).unwrap_or_default());
        level_a::judge(system, entry, local, check);
        level_b::judge(system, entry, local, check);
    }
    level_c::judge(system, entry, &analysis, check);
    allowance::note_open(system, &open, check);
    for verdict in check.tasks.iter_mut().filter(|t| t.level == Some(Level::D)) {
        verdict.met = true;
        verdict.explanation = "best effort".into();
    }
    check.summary = summary::line(system, check);
}

/// By how much each execution time may grow at its task's own level; see [`growth`].
pub(crate) fn growth(system: &System, entry: Duration, search: &mut SearchBudget, growth: &mut [Growth]) {
    growth::search(system, entry, search, growth);
}

fn analyse(system: &System, entry: Duration, allowances: &[Duration]) -> Analysis {
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
            time: assumed(t, Level::A) + allowances[n],
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

fn of_level(system: &System, level: Level, core: Option<usize>) -> Vec<usize> {
    let fits = |n: &usize| {
        let t = &system.tasks[*n];
        t.level == Some(level) && core.is_none_or(|core| t.core.is_some_and(|c| c.index() == core))
    };
    (0..system.tasks.len()).filter(fits).collect()
}

/// The release instants of all tasks and the slot boundaries of all tables.
fn instants(system: &System, locals: &[Local]) -> Instants {
    let releases = system.tasks.iter().map(|t| (t.offset, t.period));
    let boundaries = locals.iter().filter_map(|l| l.plan.as_ref().ok()).flat_map(|plan| {
        let table = plan.table();
        table.slots.into_iter().flat_map(move |s| [(s.start, table.cycle), (s.end, table.cycle)])
    });
    Instants::of(releases.chain(boundaries), system.duration)
}
