//! Admission: every change of the running system is judged before it is done.
//!
//! In the order in which they are asked for, the system as it would be after a change, with those that were admitted
//! before, is checked as a system of its own. The change is refused, and the system stays as it is, if then something fails,
//! or a task that is promised something now would be promised nothing. A system that is not accepted as it is may be changed
//! by what makes nothing worse.
//!
//! That a bound holds from a change on takes a protocol: `tactus-policy` lets a change take effect only when no work of
//! before is left that could meet that of after. A job that is under way then, behind a server that is without budget, has the
//! weaker of both promises.
//!
//! **Releases.** What is added, and what gets another period, is released from its change on, at instants that nobody knows
//! before; from there on each task's releases are counted by themselves.

use super::assumed::id;
use super::report::{Check, TaskCheck, TaskVerdict};
use tactus_model::{Action, Change, Part, System, SystemRevision};
use tactus_task::{Bound, Table};
use tactus_time::Duration;

/// What admission says of a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdmissionVerdict {
    /// When it is asked for.
    pub at: Duration,
    /// The change in words.
    pub change: String,
    /// Line of the system file.
    pub line: usize,
    /// Why it is refused; nothing if it is admitted.
    pub refused: Option<String>,
    /// It has to wait until its server is empty, since a task in there is promised something.
    pub drains: bool,
    /// The verdict on each task of the file from then on; that of before if the change is refused.
    pub tasks: Vec<TaskCheck>,
    /// What the enforced budget of each task of the file has on top from then on; see [`Check::allowances`].
    pub allowances: Vec<Duration>,
    /// The level-A table of each core from then on; see [`Check::tables`].
    pub tables: Vec<Table>,
}

impl AdmissionVerdict {
    /// Whether it is admitted.
    pub fn admitted(&self) -> bool {
        self.refused.is_none()
    }
}

/// `at 2 s: add task radar: refused: …`
impl std::fmt::Display for AdmissionVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at {}: {}: ", self.at, self.change)?;
        match &self.refused {
            None => f.write_str("admitted"),
            Some(why) => write!(f, "refused: {why}"),
        }
    }
}

/// The check of a system that does not change.
type CheckOne<'a> = &'a dyn Fn(&System) -> Check;

/// Judges the system as it begins, and every change.
pub(super) fn check(system: &System, check_one: CheckOne<'_>) -> Check {
    let mut stage = SystemRevision::first(system);
    let mut aligned = true;
    let first = judge(&stage, aligned, check_one);
    let mut now = first.clone();
    let mut rulings = Vec::new();
    for change in &system.scheduling.changes {
        let moves = |values: tactus_model::Values| values.period.is_some() && matches!(change.part, Part::Task(_));
        let aligned_then = aligned
            && match change.action {
                Action::Add => false,
                Action::Remove => true,
                Action::Alter(values) => !moves(values),
            };
        let ruled = stage.after(change).and_then(|next| {
            let then = judge(&next, aligned_then, check_one);
            match objection(&now, &then, &next) {
                None => Ok((next, then)),
                Some(why) => Err(why),
            }
        });
        let mut ruling = AdmissionVerdict {
            at: change.at,
            change: system.describe(change),
            line: change.line,
            refused: None,
            drains: false,
            tasks: Vec::new(),
            allowances: Vec::new(),
            tables: Vec::new(),
        };
        match ruled {
            Ok((next, mut then)) => {
                ruling.drains = drains(&next, change, &now, &then);
                keep_weaker(&stage, change, &now, &mut then);
                (stage, now, aligned) = (next, then, aligned_then);
            }
            Err(why) => ruling.refused = Some(why),
        }
        ruling.tasks.clone_from(&now.tasks);
        ruling.tables.clone_from(&now.tables);
        ruling.allowances.clone_from(&now.allowances);
        rulings.push(ruling);
    }
    Check { changes: rulings, ..first }
}

/// The check of what is there at the start, without the tasks of slots, told by the tasks of the whole file.
pub(super) fn of_present(system: &System, check_one: CheckOne<'_>) -> Check {
    let mut check = judge(&SystemRevision::first(system), true, check_one);
    for n in system.slots.iter().flat_map(|slot| slot.tasks.clone()) {
        check.tasks[n].verdict =
            TaskVerdict::Untested("reserved: admission promises its deadline to what is loaded".into());
    }
    check
}

/// The check of what is there, told by the tasks of the whole file.
fn judge(stage: &SystemRevision, aligned: bool, check_one: CheckOne<'_>) -> Check {
    let (mut system, places) = stage.present();
    if !aligned {
        // So many instants that none is listed: each task counts by itself.
        system.duration = Duration::MAX;
    }
    let found = check_one(&system);
    let whole = |task: tactus_time::TaskId| places.get(task.index()).map(|n| id(*n));
    let mut tasks = Check::new(&stage.system).tasks;
    for verdict in &mut tasks {
        verdict.utilisation = 0;
        verdict.verdict = TaskVerdict::Untested("not there: a change adds it, or has removed it".into());
    }
    let mut allowances = vec![Duration::ZERO; tasks.len()];
    for (allowance, &n) in found.allowances.iter().zip(&places) {
        allowances[n] = *allowance;
    }
    for (verdict, &n) in found.tasks.into_iter().zip(&places) {
        let exceeded_by = verdict.exceeded_by.and_then(whole);
        tasks[n] = TaskCheck { task: id(n), exceeded_by, ..verdict };
    }
    let mut tables = found.tables;
    for slot in tables.iter_mut().flat_map(|table| &mut table.slots) {
        slot.task = whole(slot.task).unwrap_or(slot.task);
    }
    let mut findings = found.findings;
    for finding in &mut findings {
        finding.task = finding.task.and_then(whole);
    }
    Check { tasks, findings, allowances, tables, ..found }
}

/// What speaks against the change from the one to the other.
fn objection(now: &Check, then: &Check, next: &SystemRevision) -> Option<String> {
    let there = |n: usize| next.has(Part::Task(n));
    let worse = |n: &usize| !now.tasks[*n].fails() && then.tasks[*n].fails();
    if now.accepted || then.findings.len() > now.findings.len() {
        if let Some(finding) = then.findings.first() {
            return Some(finding.what.clone());
        }
    } else if let Some(n) = (0..then.tasks.len()).filter(|&n| there(n)).find(worse) {
        return Some(format!("task `{}` would fail", then.tasks[n].name));
    }
    let loses = |n: &usize| now.tasks[*n].promise().is_some() && then.tasks[*n].promise().is_none() && there(*n);
    let n = (0..then.tasks.len()).find(loses)?;
    let lost = &then.tasks[n];
    let why = match lost.exceeded_by {
        Some(other) => format!("jobs of `{}` may take longer than it would assume", then.tasks[other.index()].name),
        None => lost.explanation().to_string(),
    };
    Some(format!("task `{}` would lose its promise: {why}", lost.name))
}

/// A server and those around it, the innermost first.
fn way(system: &System, server: Option<usize>) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(server, |n| system.scheduling.servers[*n].parent)
}

/// The server that the change is about, or that the task is in.
fn concerned(system: &System, part: Part) -> Option<usize> {
    match part {
        Part::Server(n) => Some(n),
        Part::Task(n) => system.home(n),
    }
}

/// Whether a task in the outermost server around what changes is promised something before or after.
fn drains(next: &SystemRevision, change: &Change, now: &Check, then: &Check) -> bool {
    let outermost = |server: Option<usize>| way(&next.system, server).last();
    let around = outermost(concerned(&next.system, change.part));
    let promised = |n: usize| [now, then].iter().any(|check| check.tasks[n].promise().is_some());
    around.is_none() || (0..then.tasks.len()).any(|n| outermost(next.system.home(n)) == around && promised(n))
}

/// A server for which the change does not wait may have work of before, that came to be under what it was supplied with then. What
/// is in there has the weaker of both promises until a change finds it empty.
fn keep_weaker(before: &SystemRevision, change: &Change, now: &Check, then: &mut Check) {
    let system = &before.system;
    let server = concerned(system, change.part);
    let on_the_way: Vec<usize> = way(system, server).collect();
    let changes = |n: usize| matches!(change.part, Part::Server(s) if system.around(n).any(|at| at == s));
    for (n, (was, is)) in now.tasks.iter().zip(&mut then.tasks).enumerate() {
        let waited_for = system.home(n).is_none_or(|home| on_the_way.contains(&home)) || changes(n);
        if waited_for || !before.has(Part::Task(n)) {
            continue;
        }
        match (was.promise(), is.promise()) {
            (None, Some(_)) => {
                is.no_bound(|| "no promise: its server may have work left from when it was promised nothing".into());
            }
            (Some(was), Some(then)) => {
                is.weaken(match (was, then) {
                    (Bound::Response(a), Bound::Response(b)) => Bound::Response(a.max(b)),
                    (Bound::Tardiness(a), Bound::Tardiness(b)) => Bound::Tardiness(a.max(b)),
                    (Bound::Response(_), Bound::Tardiness(_)) | (Bound::Tardiness(_), Bound::Response(_)) => then,
                });
            }
            (_, None) => {}
        }
    }
}
