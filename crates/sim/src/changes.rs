//! From the changes that a system file asks for to those that a policy makes.

use crate::setup::Ruled;
use tactus_model::{self as model, Stage, System};
use tactus_policy::{Action, Change, Changing, Part, Protocol, Tree, Values};
use tactus_time::TaskId;

/// The tree with its changes. New values are those that come of all changes that were admitted before.
pub(crate) fn changing(system: &System, tree: Tree, rulings: &[Ruled]) -> Changing {
    let asked = &system.scheduling.changes;
    let mut stage = Stage::first(system);
    let mut changes = Vec::new();
    for (n, change) in asked.iter().enumerate() {
        let ruled = rulings.get(n).copied().unwrap_or(Ruled { admitted: false, drains: true });
        let next = stage.after(change).ok().filter(|_| ruled.admitted);
        let admitted = next.is_some();
        stage = next.unwrap_or(stage);
        let action = match change.action {
            model::Action::Add => Action::Add,
            model::Action::Remove => Action::Remove,
            model::Action::Alter(_) => Action::Alter(values(&stage, change.part)),
        };
        changes.push(Change { at: change.at, part: part(change.part), action, admitted, drains: ruled.drains });
    }
    let tasks = (0..system.tasks.len()).map(model::Part::Task);
    let servers = (0..system.scheduling.servers.len()).map(model::Part::Server);
    let absent = tasks.chain(servers).filter(|part| system.begins_absent(*part)).map(part).collect();
    Changing { tree, absent, changes, protocol: Protocol::Quiet }
}

/// The root is place 0 of the tree.
fn part(part: model::Part) -> Part {
    match part {
        model::Part::Task(n) => Part::Task(TaskId(n as u16)),
        model::Part::Server(n) => Part::Server(n as u16 + 1),
    }
}

fn values(stage: &Stage, part: model::Part) -> Values {
    let System { tasks, scheduling, .. } = &stage.system;
    match part {
        model::Part::Task(n) => {
            let task = &tasks[n];
            let priority = scheduling.places.get(n).map_or(0, |place| place.priority);
            let time = task.execution[0].unwrap_or_default();
            Values { time, period: task.period, deadline: task.deadline, priority }
        }
        model::Part::Server(n) => {
            let server = &scheduling.servers[n];
            let (time, period, priority) = (server.budget, server.period, server.priority);
            Values { time, period, deadline: period, priority }
        }
    }
}
