//! Events that a system can never have, by its policy, its tasks' rules and its servers' kinds: a monitor of one would wait for ever.

use super::names::runs_component;
use crate::draft::{Draft, DraftExecution, DraftTask};
use crate::{Overrun, Policy, ServerKind};
use tactus_monitor::{Occurrence, OccurrenceKind};
use tactus_time::{Duration, Level};

/// Why the event cannot occur, and what to do; nothing if it can.
pub(super) fn reason(occurrence: &Occurrence, system: &Draft) -> Option<(String, &'static str)> {
    let name = occurrence.of.as_deref().unwrap_or_default();
    let cannot = |why: String, remedy| Some((format!("\"{occurrence}\" cannot occur: {why}"), remedy));
    let policy = system.policy.value()?;
    let task = system.tasks.iter().find(|task| task.name.get().is_some_and(|at| at.value == name));
    match (occurrence.kind, task) {
        (OccurrenceKind::Reconfigure, _) if system.changes.is_empty() => {
            cannot("the system has no [[change]]".into(), "leave the event out, or add a change")
        }
        (OccurrenceKind::Restart, _) if system.components.iter().all(|it| it.rights.restarted_by.is_absent()) => {
            let remedy = "leave the event out, or write restarted-by in a [[component]]";
            cannot("no component of the system is restarted".into(), remedy)
        }
        (OccurrenceKind::Mode, _) if !matches!(policy, Policy::Mixed(_)) => {
            let why = "a core has modes of criticality under the policies amc and edf-vd alone";
            cannot(why.into(), "leave the event out, or choose one of them")
        }
        (OccurrenceKind::Mode, _) if !system.tasks.iter().any(takes_longer_at_a) => {
            let why = "no task of level A has a longer time at A than at B, after which the mode would change";
            cannot(why.into(), "leave the event out, or write execution = { A = …, B = … } in a [[task]] of level A")
        }
        (OccurrenceKind::Exhaust | OccurrenceKind::Replenish, Some(task)) if !has_budget(task, policy) => {
            let (why, remedy) = match policy {
                Policy::Mc2 { enforce: false, .. } => (
                    format!("nobody is held to a budget, {name} neither"),
                    "remove enforce = false from [policy], or leave the event out",
                ),
                Policy::Mc2 { .. } => {
                    (format!("{name} has no budget at level D"), "name a task of another level, or leave the event out")
                }
                _ => (
                    format!("{name} is not held to its execution time"),
                    "write overrun = \"stop\" in its [[task]], or name its server",
                ),
            };
            cannot(why, remedy)
        }
        (OccurrenceKind::Replenish, None) if recharges_at_once(name, system) => {
            let why = format!("{name} has its next budget as soon as one is used up");
            cannot(why, "watch exhaust instead")
        }
        (OccurrenceKind::Drop, Some(task)) if !loses_jobs(task, policy, system) => {
            let why = format!("each job of {name} is done in the end");
            let remedy = "leave the event out, or write overrun = \"skip\" or \"kill\" in its [[task]]";
            cannot(why, remedy)
        }
        _ => None,
    }
}

/// Whether its core goes over to HI where it takes longer than at B.
fn takes_longer_at_a(task: &DraftTask) -> bool {
    let Some(DraftExecution::Levels(times)) = task.execution.get().map(|at| &at.value) else { return false };
    let at = |level: usize| times[level].value().unwrap_or(Duration::ZERO);
    task.level.value() == Some(Level::A) && at(0) > at(1)
}

/// Whether a task is held to a budget of its own.
fn has_budget(task: &DraftTask, policy: Policy) -> bool {
    match policy {
        Policy::Mc2 { enforce, .. } => enforce && task.level.value() != Some(Level::D),
        _ => task.placing.overrun.value() == Some(Overrun::Stop),
    }
}

/// Whether a job of the task can end without being done.
fn loses_jobs(task: &DraftTask, policy: Policy, system: &Draft) -> bool {
    let rule = matches!(task.placing.overrun.value(), Some(Overrun::Skip | Overrun::Kill));
    let restarted = system.components.iter().any(|it| {
        let name = it.name.get().map(|at| at.value.as_str());
        !it.rights.restarted_by.is_absent() && name.is_some_and(|name| runs_component(task, name))
    });
    rule || restarted || matches!(policy, Policy::Mixed(_))
}

/// Whether this is a server that never waits for a budget.
fn recharges_at_once(name: &str, system: &Draft) -> bool {
    let server = system.servers.iter().find(|server| server.name.get().is_some_and(|at| at.value == name));
    let kind = server.and_then(|server| server.kind.value());
    kind.is_some_and(ServerKind::is_soft)
}
