//! From the changes that a system file asks for to those that a policy makes.

use crate::policy_config::{allowance, budget, Admission};
use tactus_model::{self as model, System, SystemRevision};
use tactus_policy::{Action, Change, Changeable, Changing, DualNow, Mc2, Mc2Now, Mixed, Part, Protocol, Tree, Values};
use tactus_time::{CoreId, Duration, Level, TaskId};

/// The tree with its changes. New values are those that come of all changes that were admitted before.
pub(crate) fn changing(system: &System, tree: Tree, rulings: &[Admission]) -> Changing {
    let (changes, _) = through(system, rulings, |_, _| ());
    let tasks = (0..system.tasks.len()).map(model::Part::Task);
    let servers = (0..system.scheduling.servers.len()).map(model::Part::Server);
    let absent = tasks.chain(servers).filter(|part| system.begins_absent(*part)).map(part).collect();
    Changing { tree, absent, changes, protocol: Protocol::Quiet }
}

/// Each change as a policy makes it, and what `effect` tells of the system after it.
fn through<N>(
    system: &System,
    rulings: &[Admission],
    mut effect: impl FnMut(&SystemRevision, Option<&Admission>) -> N,
) -> (Vec<Change>, Vec<N>) {
    let mut stage = SystemRevision::first(system);
    let one = |(n, change): (usize, &model::Change)| {
        let ruled = rulings.get(n);
        let next = stage.after(change).ok().filter(|_| ruled.is_some_and(|ruled| ruled.admitted));
        let admitted = next.is_some();
        stage = next.unwrap_or_else(|| stage.clone());
        let action = match change.action {
            model::Action::Add => Action::Add,
            model::Action::Remove => Action::Remove,
            model::Action::Alter(_) => Action::Alter(values(&stage, change.part)),
        };
        let drains = ruled.is_none_or(|ruled| ruled.drains);
        let made = Change { at: change.at, part: part(change.part), action, admitted, drains };
        (made, effect(&stage, ruled.filter(|_| admitted)))
    };
    system.scheduling.changes.iter().enumerate().map(one).unzip()
}

/// AMC and EDF-VD with their changes. Budgets and virtual deadlines of the start are those of what is there then.
pub(crate) fn mixed(
    system: &System,
    mut policy: Mixed,
    allowances: &[Duration],
    rulings: &[Admission],
) -> Changeable<Mixed, Vec<DualNow>> {
    let mut known: Vec<Option<DualNow>> = vec![None; system.tasks.len()];
    for now in duals(&SystemRevision::first(system), allowances) {
        policy.tasks[now.task.index()].virtual_deadline = now.virtual_deadline;
        known[now.task.index()] = Some(now);
    }
    let (changes, mut effects) = through(system, rulings, |stage, ruled| match ruled {
        Some(ruled) => duals(stage, &ruled.allowances),
        None => Vec::new(),
    });
    // What moves, and what begins; both on the core of the change alone.
    for (effect, change) in effects.iter_mut().zip(&system.scheduling.changes) {
        let core = |task: TaskId| system.tasks[task.index()].core;
        let model::Part::Task(own) = change.part else { continue };
        effect.retain(|now| {
            let here = core(now.task) == system.tasks[own].core;
            here && known[now.task.index()].replace(*now) != Some(*now)
        });
    }
    Changeable { policy, absent: absent(system), changes, effects, protocol: Protocol::Quiet }
}

/// MC² with its changes.
pub(crate) fn mc2(
    system: &System,
    policy: Mc2,
    allowances: &[Duration],
    rulings: &[Admission],
) -> Changeable<Mc2, Mc2Now> {
    let first = budgets(&SystemRevision::first(system), allowances);
    let mut known: Vec<Option<Duration>> = vec![None; system.tasks.len()];
    first.into_iter().for_each(|(task, budget)| known[task.index()] = Some(budget));
    let mut tables = policy.tables.clone();
    let (changes, mut effects) = through(system, rulings, |stage, ruled| match ruled {
        Some(ruled) => Mc2Now {
            budgets: budgets(stage, &ruled.allowances),
            tables: (0..).map(CoreId).zip(ruled.tables.iter().cloned()).collect(),
        },
        None => Mc2Now::default(),
    });
    // What moves, and what begins.
    for effect in &mut effects {
        effect.budgets.retain(|(task, budget)| known[task.index()].replace(*budget) != Some(*budget));
        effect.tables.retain(|(core, table)| std::mem::replace(&mut tables[core.index()], table.clone()) != *table);
    }
    Changeable { policy, absent: absent(system), changes, effects, protocol: Protocol::Quiet }
}

/// The budget of each task that is there.
fn budgets(stage: &SystemRevision, allowances: &[Duration]) -> Vec<(TaskId, Duration)> {
    let (present, places) = stage.present();
    let one = |(task, n): (&model::Task, usize)| {
        let own = budget(task, task.level.unwrap_or_default(), allowance(&present, allowances, n));
        (TaskId(n as u16), own)
    };
    present.tasks.iter().zip(places).map(one).collect()
}

/// The tasks that begin absent.
fn absent(system: &System) -> Vec<TaskId> {
    let absent = (0..system.tasks.len()).filter(|n| system.begins_absent(model::Part::Task(*n)));
    absent.map(|n| TaskId(n as u16)).collect()
}

/// What each task that is there has.
fn duals(stage: &SystemRevision, allowances: &[Duration]) -> Vec<DualNow> {
    let (present, places) = stage.present();
    let one = |((task, virtual_deadline), n): ((&model::Task, Duration), usize)| {
        let more = allowance(&present, allowances, n);
        let own = budget(task, task.level.unwrap_or_default(), more);
        DualNow { task: TaskId(n as u16), low: budget(task, Level::B, more), own, virtual_deadline }
    };
    present.tasks.iter().zip(present.virtual_deadlines()).zip(places).map(one).collect()
}

/// The root is place 0 of the tree.
fn part(part: model::Part) -> Part {
    match part {
        model::Part::Task(n) => Part::Task(TaskId(n as u16)),
        model::Part::Server(n) => Part::Server(n as u16 + 1),
    }
}

fn values(stage: &SystemRevision, part: model::Part) -> Values {
    let System { tasks, scheduling, .. } = &stage.system;
    match part {
        model::Part::Task(n) => {
            let task = &tasks[n];
            let priority = scheduling.places.get(n).map_or(0, |place| place.priority);
            let time = task.execution[task.level.unwrap_or_default().index()].unwrap_or_default();
            Values { time, period: task.period, deadline: task.deadline, priority }
        }
        model::Part::Server(n) => {
            let server = &scheduling.servers[n];
            let (time, period, priority) = (server.budget, server.period, server.priority);
            Values { time, period, deadline: period, priority }
        }
    }
}
