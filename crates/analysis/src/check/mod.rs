//! The check of a whole system: which tests apply to its policy, and what they promise for each task.
//!
//! **What is accepted.** Partitioned and global policies: every task's response bound is shown to be within its deadline.
//! (A global EDF system that only has a tardiness bound is not accepted, though the bound is given.) MC²: every
//! level-A table exists, every level-A and level-B response is within its deadline, and every level-C task has a
//! tardiness bound. Level D is promised nothing.

mod assignment;
mod assumptions;
mod global;
mod growth;
mod mc2;
mod partitioned;
mod rank;
mod report;
mod sensitivity;
mod servers;

pub use assignment::{assignment, is_bound, Unassigned};
pub use growth::Growth;
pub use report::{Bound, Check, CoreLoad, Finding, TaskVerdict};

use crate::effort::Effort;
use crate::overhead;
use rank::Rank;
use tactus_model::{Costs, Policy, System};
use tactus_time::{Duration, Level, TaskId};

/// Judges a system. Costs count only where the system asks for it (`machine.overheads`).
pub fn check(system: &System, costs: &Costs) -> Check {
    let entry = if system.machine.overheads { overhead::entry(costs) } else { Duration::ZERO };
    let mut check = Check::new(system);
    match system.policy {
        Policy::GlobalRm | Policy::GlobalEdf => global::check(system, entry, &mut check),
        Policy::Mc2 { .. } => mc2::check(system, entry, &mut check),
        Policy::Mixed(_) => unproven(system, &mut check),
        Policy::PartitionedRm | Policy::PartitionedEdf | Policy::Ordered { .. } => match Rank::of(system) {
            Some(rank) => partitioned::check(system, rank, entry, &mut check),
            None if servers::known(system, entry) => servers::check(system, &mut check),
            None => unproven(system, &mut check),
        },
    }
    assumptions::note(system, &mut check);
    check.accepted = check.findings.is_empty();
    check
}

/// What [`sensitivity`] may spend so that it answers in some tens of milliseconds.
pub const QUICK: Effort = Effort::terms(2_500_000);

/// By how much each task's execution time may grow, by `TaskId`; see [`Growth`]. Searched within the effort given, which
/// cores that are by themselves share; where it does not do for all (many tasks under global policies, cores near full
/// load), the first tasks have it.
pub fn sensitivity(system: &System, costs: &Costs, effort: Effort) -> Vec<Growth> {
    let entry = if system.machine.overheads { overhead::entry(costs) } else { Duration::ZERO };
    let mut growth = vec![Growth::Unknown; system.tasks.len()];
    let mut purse = growth::Purse::with(effort);
    match system.policy {
        Policy::GlobalRm | Policy::GlobalEdf => global::growth(system, entry, &mut purse, &mut growth),
        Policy::Mc2 { .. } => mc2::growth(system, entry, &mut purse, &mut growth),
        Policy::Mixed(_) => {}
        Policy::PartitionedRm | Policy::PartitionedEdf | Policy::Ordered { .. } => {
            if let Some(rank) = Rank::of(system) {
                partitioned::growth(system, rank, entry, &mut purse, &mut growth);
            }
        }
    }
    growth
}

/// Orders and servers that no test here knows yet: nothing is promised, which is not a fault of the system.
fn unproven(system: &System, check: &mut Check) {
    let label = tactus_model::policy_label(&system.policy);
    for verdict in &mut check.tasks {
        verdict.explanation = format!("no test for {label} yet, so nothing is promised");
        verdict.met = true;
    }
    let servers = match system.scheduling.servers.len() {
        0 => String::new(),
        n => format!(" with {n} servers"),
    };
    check.summary = format!("{label}{servers} · nothing is promised");
}

/// The execution time that a task may take as assumed at a level; zero where the file gives none.
fn assumed(task: &tactus_model::Task, level: Level) -> Duration {
    task.execution[level.index()].unwrap_or(Duration::ZERO)
}

/// A task without levels: its execution time.
fn plain(task: &tactus_model::Task) -> Duration {
    assumed(task, Level::A)
}

/// The task's place as its name in traces and policies.
fn id(place: usize) -> TaskId {
    TaskId(u16::try_from(place).unwrap_or(u16::MAX))
}
