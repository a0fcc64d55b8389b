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
mod analysis;
mod growth;
mod level_a;
mod level_b;
mod level_c;
mod local;
mod summary;

use super::covers::{one, SPORADIC};
use super::declared::{self, Declared};
use super::growth::{Growth, SearchBudget};
use super::report::{Check, TaskVerdict};
use super::subject::Subject;
use crate::mc2::table::Plan;
use tactus_model::System;
use tactus_task::{Feature, Features};
use tactus_time::{Duration, Level};

const BY_LEVELS: Features = SPORADIC
    .without(Features::of(&[Feature::Skip, Feature::Stop, Feature::Kill]))
    .and(Features::of(&[Feature::Unenforced, Feature::SlackShifting, Feature::Reconfiguration, Feature::LevelA]));

const fn test(name: &'static str, source: &'static str, covers: Features) -> Declared {
    Declared { name, source, place: "MC²", covers, exact: false }
}

/// The tests of levels A, B and C.
const LEVELS: [Declared; 3] = [
    test("table of core", "EDF over one hyperperiod at level-A times", BY_LEVELS),
    test("EDF beneath the table", "Mollison et al. 2010; Spuri 1996", BY_LEVELS.and(one(Feature::LevelB))),
    test(
        "global EDF beneath A and B",
        "Erickson, Devi and Baruah 2010; Bertogna and Cirinei 2007",
        BY_LEVELS.and(Features::of(&[Feature::LevelB, Feature::LevelC])),
    ),
];
/// All of them.
pub(crate) const ALL: &[Declared] = &LEVELS;

/// Why no test covers a task, if none does.
fn uncovered(subject: &Subject, n: usize, level: Level) -> Option<String> {
    let test = match level {
        Level::A => LEVELS[0],
        Level::B => LEVELS[1],
        Level::C => LEVELS[2],
        Level::D => return Some("best effort".into()),
    };
    subject.unknown(n).or_else(|| declared::uncovered(subject, n, &[test]))
}

/// `entry`: as bounds count it; `budgeted`: as budgets hold it.
pub(super) fn check(subject: &Subject, (entry, budgeted): (Duration, Duration), check: &mut Check) {
    let system = subject.system;
    let allowance::Settled { allowances, analysis, open } = allowance::settle(system, entry, budgeted);
    check.allowances = allowances;
    for local in &analysis.locals {
        check.tables.push(local.plan.as_ref().map(Plan::table).unwrap_or_default());
        level_a::judge(system, entry, local, check);
        level_b::judge(system, entry, local, check);
    }
    level_c::judge(system, entry, &analysis, check);
    allowance::note_open(system, &open, check);
    for (n, task) in check.tasks.iter_mut().enumerate() {
        if let Some(why) = task.level.and_then(|level| uncovered(subject, n, level)) {
            task.verdict = TaskVerdict::Untested(why);
        }
    }
}

/// The line that sums the check up.
pub(crate) fn summary(system: &System, check: &Check) -> String {
    summary::line(system, check)
}

/// By how much each execution time may grow at its task's own level; see [`growth`].
pub(crate) fn growth(system: &System, entries: (Duration, Duration), search: &mut SearchBudget, growth: &mut [Growth]) {
    growth::search(system, entries, search, growth);
}
