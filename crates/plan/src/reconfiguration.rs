//! From the changes that a system file asks for to those that a policy makes.
//!
//! A request carries what the file names, so that one which is refused on the way leaves nothing for later ones to bring. Virtual deadlines,
//! tables of level A and the budgets of other tasks are computed from all tasks, with all changes before; what brings some
//! [depends](tactus_policy::Change::depends) on these.

use crate::policy_config::{allowance, budget, Admission};
use tactus_model::{self as model, System, SystemRevision};
use tactus_policy::{
    Action, Alteration, Change, DualNow, Mc2, Mc2Now, Mixed, MixedOrder, Part, Protocol, Reconfigurable,
    ReconfigurableTree, SlotTasks, Tree,
};
use tactus_time::{CoreId, Duration, Level, TaskId};

/// The tree with its changes.
pub(crate) fn changing(system: &System, tree: Tree, rulings: &[Admission]) -> ReconfigurableTree {
    let (changes, _) = through(system, rulings, |_, _| ());
    let tasks = (0..system.tasks.len()).map(model::Part::Task);
    let servers = (0..system.scheduling.servers.len()).map(model::Part::Server);
    let absent = tasks.chain(servers).filter(|part| system.begins_absent(*part)).map(part).collect();
    let tasks =
        |slot: &model::Slot| SlotTasks { first: TaskId(slot.tasks.start as u16), tasks: slot.tasks.len() as u16 };
    let slots = system.slots.iter().map(tasks).collect();
    ReconfigurableTree { tree, absent, changes, slots, protocol: Protocol::IdleInstant }
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
            model::Action::Alter(values) => Action::Alter(alteration(&values)),
        };
        let drains = ruled.is_none_or(|ruled| ruled.drains);
        let made = Change { at: change.at, part: part(change.part), action, admitted, drains, depends: false };
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
) -> Reconfigurable<Mixed, Vec<DualNow>> {
    let nothing = |n: usize| DualNow { task: TaskId(n as u16), low: None, own: None, virtual_deadline: None };
    let mut known: Vec<DualNow> = (0..system.tasks.len()).map(nothing).collect();
    for (now, _) in duals(&SystemRevision::first(system), allowances) {
        let virtual_deadline = &mut policy.tasks[now.task.index()].virtual_deadline;
        *virtual_deadline = now.virtual_deadline.unwrap_or(*virtual_deadline);
        known[now.task.index()] = now;
    }
    let (mut changes, drafts) = through(system, rulings, |stage, ruled| match ruled {
        Some(ruled) => duals(stage, &ruled.allowances),
        None => Vec::new(),
    });
    // What is named, what moves, and what begins; on the core of the change alone.
    let mut effects = Vec::new();
    for ((draft, change), asked) in drafts.into_iter().zip(&mut changes).zip(&system.scheduling.changes) {
        let target = match asked.part {
            model::Part::Task(task) => task,
            model::Part::Server(_) => continue,
        };
        let named = Named::of(asked, system.tasks[target].level);
        let mut effect = Vec::new();
        for (now, scaled) in draft {
            let n = now.task.index();
            if system.tasks[n].core != system.tasks[target].core {
                continue;
            }
            let before = std::mem::replace(&mut known[n], now);
            let own = n == target;
            let mut brings = |then: Option<Duration>, before: Option<Duration>, named: bool| {
                change.depends |= then != before && !named;
                then.filter(|_| then != before || named)
            };
            let low = brings(now.low, before.low, own && named.low);
            let at_own = brings(now.own, before.own, own && named.own);
            // Without a scale it is the deadline.
            let plain = own && !scaled || policy.order == MixedOrder::FixedPriority;
            let moved = now.virtual_deadline != before.virtual_deadline;
            let virtual_deadline = brings(now.virtual_deadline, before.virtual_deadline, plain && moved);
            if [low, at_own, virtual_deadline].iter().any(Option::is_some) {
                effect.push(DualNow { task: now.task, low, own: at_own, virtual_deadline });
            }
        }
        effects.push(effect);
    }
    Reconfigurable { policy, absent: absent(system), changes, effects, protocol: Protocol::IdleInstant }
}

/// MC² with its changes.
pub(crate) fn mc2(
    system: &System,
    policy: Mc2,
    allowances: &[Duration],
    rulings: &[Admission],
) -> Reconfigurable<Mc2, Mc2Now> {
    let first = budgets(&SystemRevision::first(system), allowances);
    let mut known: Vec<Option<Duration>> = vec![None; system.tasks.len()];
    first.into_iter().for_each(|(task, budget)| known[task.index()] = Some(budget));
    let mut tables = policy.tables.clone();
    let (mut changes, mut effects) = through(system, rulings, |stage, ruled| match ruled {
        Some(ruled) => Mc2Now {
            budgets: budgets(stage, &ruled.allowances),
            tables: (0..).map(CoreId).zip(ruled.tables.iter().cloned()).collect(),
        },
        None => Mc2Now::default(),
    });
    // What is named, what moves, and what begins.
    for ((effect, change), asked) in effects.iter_mut().zip(&mut changes).zip(&system.scheduling.changes) {
        let model::Part::Task(own) = asked.part else { continue };
        let named = Named::of(asked, system.tasks[own].level).own;
        effect.budgets.retain(|(task, budget)| {
            let moved = known[task.index()].replace(*budget) != Some(*budget);
            let named = named && task.index() == own;
            change.depends |= moved && !named;
            moved || named
        });
        effect.tables.retain(|(core, table)| std::mem::replace(&mut tables[core.index()], table.clone()) != *table);
        change.depends |= !effect.tables.is_empty();
    }
    Reconfigurable { policy, absent: absent(system), changes, effects, protocol: Protocol::IdleInstant }
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

/// What each task that is there has, and whether its virtual deadline is another than its deadline.
fn duals(stage: &SystemRevision, allowances: &[Duration]) -> Vec<(DualNow, bool)> {
    let (present, places) = stage.present();
    let one = |((task, virtual_deadline), n): ((&model::Task, Duration), usize)| {
        let more = allowance(&present, allowances, n);
        let own = budget(task, task.level.unwrap_or_default(), more);
        let (low, own) = (Some(budget(task, Level::B, more)), Some(own));
        let now = DualNow { task: TaskId(n as u16), low, own, virtual_deadline: Some(virtual_deadline) };
        (now, virtual_deadline != task.deadline)
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

fn alteration(values: &model::Values) -> Alteration {
    let model::Values { time, period, deadline, priority, .. } = *values;
    Alteration { time, period, deadline, priority }
}

/// Which times of its own task a change names: at level B, and at the task's own level. What begins has all of its own.
struct Named {
    low: bool,
    own: bool,
}

impl Named {
    fn of(change: &model::Change, level: Option<Level>) -> Named {
        let at = |level: Level| match change.action {
            model::Action::Add => true,
            model::Action::Remove => false,
            model::Action::Alter(values) => values.time.is_some() || values.levels[level.index()].is_some(),
        };
        Named { low: at(Level::B), own: at(level.unwrap_or_default()) }
    }
}
