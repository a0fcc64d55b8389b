//! The allowance of each task: the most that one of its jobs is charged beyond its execution time ([`Charge`]).
//!
//! Allowances lengthen slots and budgets, these lengthen the windows in which a job can be charged, and that is what the
//! allowances are made from. The two are iterated from zero allowances upwards, task by task, until no task needs more
//! than it has. Then everything holds together: as long as no job has been charged more than its allowance, no job is
//! pending for longer than its window, and in that window it is not charged more than its allowance.
//!
//! A task whose need goes on growing stays *open*: it fails, and so do the promises that its jobs can break. The others
//! stand, for what they count on is what enforced budgets hold the open task to.

use super::super::assumed::{assumed, id};
use super::super::assumptions::disturbs;
use super::super::report::{Check, TaskVerdict};
use super::analysis::analyse;
use super::local::{instants, Analysis};
use crate::overhead::Charge;
use tactus_model::{Body, System, Task};
use tactus_time::{Duration, Level};

/// Rounds after which a task that still needs more is open. Few do: windows grow by far less than the allowances.
const MOST_ROUNDS: u32 = 24;

/// Where the iteration ends.
pub(super) struct Settled {
    /// By task; zero at level D.
    pub allowances: Vec<Duration>,
    /// The system at these allowances.
    pub analysis: Analysis,
    /// The tasks that still need more.
    pub open: Vec<usize>,
}

/// Where bounds leave the system's own work out (`entry` is zero), budgets hold what they would hold with it (`budgeted`), and bounds
/// count these budgets.
pub(super) fn settle(system: &System, entry: Duration, budgeted: Duration) -> Settled {
    let settled = settled(system, budgeted);
    if entry == budgeted {
        return settled;
    }
    let analysis = analyse(system, entry, &settled.allowances);
    Settled { analysis, open: Vec::new(), ..settled }
}

fn settled(system: &System, entry: Duration) -> Settled {
    let mut allowances = vec![Duration::ZERO; system.tasks.len()];
    let mut analysis = analyse(system, entry, &allowances);
    for round in 0.. {
        let needed = needed(system, entry, &analysis);
        let open: Vec<usize> = (0..needed.len()).filter(|&n| needed[n] > allowances[n]).collect();
        if open.is_empty() || round == MOST_ROUNDS {
            if analysis.late.is_err() {
                // Level C has no bound at all, so that its windows are guesses: budgets count on deadlines being met.
                analysis.level_c.iter().for_each(|&n| allowances[n] = needed[n]);
            }
            return Settled { allowances, analysis, open };
        }
        for &n in &open {
            allowances[n] = needed[n];
        }
        analysis = analyse(system, entry, &allowances);
    }
    unreachable!("the last round returns")
}

/// The most that a job of each task is charged beyond its own execution, but no more than its period: a task that needs
/// this much asks for more than a core, whatever else it does, and every test refuses it.
fn needed(system: &System, entry: Duration, analysis: &Analysis) -> Vec<Duration> {
    let mut needed = vec![Duration::ZERO; system.tasks.len()];
    if entry.is_zero() {
        return needed;
    }
    let instants = instants(system, &analysis.locals);
    let charge = Charge { entry, instants: &instants };
    let tail = charge.of_workload();
    let of = |n: usize, window: Duration, pieces: u64, others: u64| match system.tasks[n].body {
        Body::Workload => tail,
        Body::Component(_) => charge.of_component(window, pieces, others),
    };
    for local in &analysis.locals {
        for &n in &local.level_a {
            // Without a table, budgets count on one slot somewhere between release and deadline.
            let (span, pieces) = match &local.plan {
                Ok(plan) => plan.spread(id(n)),
                Err(_) => (system.tasks[n].deadline, 1),
            };
            // Late starts take from the slots without being charged.
            needed[n] = of(n, span, pieces, 0).checked_add(entry * pieces).unwrap_or(Duration::MAX);
        }
        for (i, &n) in local.level_b.iter().enumerate() {
            let deadline = system.tasks[n].deadline;
            let window = local.responses.as_ref().map_or(deadline, |r| r[i].min(deadline));
            needed[n] = of(n, window, 1, 0);
        }
    }
    // A core closes to level C, and sends its job elsewhere, also where an A job ends or a B ghost does.
    let above = |w: Duration| -> u64 {
        let jobs = |t: &Task| w / t.period + 1;
        system.tasks.iter().filter(|t| matches!(t.level, Some(Level::A | Level::B))).map(jobs).sum()
    };
    for (i, &n) in analysis.level_c.iter().enumerate() {
        let late = analysis.late.as_ref().map_or(Duration::ZERO, |late| late[i]);
        let window = system.tasks[n].deadline + late;
        needed[n] = of(n, window, 1, above(window));
    }
    needed.iter().zip(&system.tasks).map(|(needed, t)| (*needed).min(t.period)).collect()
}

/// Takes back what the open tasks' jobs can break: their own promises, and those that count on what they really take.
pub(super) fn note_open(system: &System, open: &[usize], check: &mut Check) {
    for (n, task) in system.tasks.iter().enumerate() {
        let Some(&culprit) = open.iter().find(|&&o| disturbs(system, (o, &system.tasks[o]), (n, task))) else {
            continue;
        };
        let failed = check.tasks[n].fails();
        if open.contains(&n) {
            if !failed {
                let own = assumed(task, task.level.unwrap_or(Level::A));
                let what = format!(
                    "the overheads that a job of `{}` has to be allowed for do not settle; they passed {} beside its own {own}",
                    task.name, check.allowances[n]
                );
                let remedy = "lower the load".to_string();
                check.fail(system, n, what, remedy);
            }
            let why = "its allowance for overheads does not settle";
            check.tasks[n].verdict = TaskVerdict::fails(why, why);
        } else {
            let why = format!("the allowance of `{}` does not settle", system.tasks[culprit].name);
            check.tasks[n].verdict = TaskVerdict::fails(why.as_str(), why.as_str());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn system(enforce: bool) -> System {
        let mut text =
            format!("[system]\nname = 's'\ncores = 2\nduration = '1 s'\n[policy]\nkind = 'mc2'\nenforce = {enforce}\n");
        for (name, level, core) in [
            ("a0", 'A', Some(0)),
            ("b0", 'B', Some(0)),
            ("b1", 'B', Some(1)),
            ("b1-too", 'B', Some(1)),
            ("c", 'C', None),
            ("c-too", 'C', None),
        ] {
            let core = core.map_or(String::new(), |c| format!("core = {c}\n"));
            text +=
                &format!("[[task]]\nname = '{name}'\nlevel = '{level}'\nperiod = '10 ms'\nexecution = '1 ms'\n{core}");
        }
        System::parse_toml(&text, Path::new("s.toml")).expect("a good file")
    }

    /// Who keeps a promise if that of task `open` does not settle.
    fn left(enforce: bool, open: usize) -> Vec<usize> {
        let system = system(enforce);
        let mut check = crate::check(&system, &tactus_model::Costs::default());
        assert!(check.accepted, "{check}");
        note_open(&system, &[open], &mut check);
        assert_eq!((check.findings.len(), check.findings[0].task), (1, Some(id(open))));
        (0..check.tasks.len()).filter(|&n| matches!(check.tasks[n].verdict, TaskVerdict::Bounded { .. })).collect()
    }

    #[test]
    fn a_task_that_does_not_settle_takes_with_it_only_what_its_jobs_can_break() {
        assert_eq!(left(true, 0), [2, 3], "level A of core 0: level B there and all of level C");
        assert_eq!(left(true, 2), [0, 1, 3], "level B of core 1: all of level C");
        assert_eq!(left(false, 2), [0, 1], "without budgets also the other one on its core");
        assert_eq!(left(true, 4), [0, 1, 2, 3, 5], "level C: itself");
    }
}
