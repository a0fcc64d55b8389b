//! Parameters of one scheduler among those of a tree: see [`divide`](crate::divide).

use super::Tree;
use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_time::{CoreId, TaskId};

/// One of the schedulers of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchedulerPlan {
    /// What it decides about. Its root is its own server without the budget, or the root of the system. The tasks of the set-up
    /// are its own, then a proxy for each child.
    pub tree: Tree,
    /// Its own tasks, by the numbers that the whole system gives them.
    pub tasks: Vec<TaskId>,
    /// Its servers, by their index in the whole tree; first its own.
    pub servers: Vec<u16>,
    /// Its child schedulers.
    pub children: Vec<Child>,
}

/// A child scheduler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Child {
    /// Its index in what [`divide`](crate::divide) gives.
    pub plan: u16,
    /// Its core.
    pub core: CoreId,
    /// Its proxy in decisions and records: a number that no task has.
    pub proxy: TaskId,
    /// All its tasks, those of its own children included.
    pub tasks: Vec<TaskId>,
}

impl Parameters for SchedulerPlan {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        let list = |out: &mut Vec<u8>, numbers: &mut dyn ExactSizeIterator<Item = u16>| {
            put(out, numbers.len() as u64);
            numbers.for_each(|number| out.extend(number.to_le_bytes()));
        };
        list(out, &mut self.tasks.iter().map(|task| task.0));
        list(out, &mut self.servers.iter().copied());
        put(out, self.children.len() as u64);
        for child in &self.children {
            out.extend(child.plan.to_le_bytes());
            out.push(child.core.0);
            out.extend(child.proxy.0.to_le_bytes());
            list(out, &mut child.tasks.iter().map(|task| task.0));
        }
    }

    fn decode(input: &mut Input) -> Result<SchedulerPlan, DecodeError> {
        let number = |input: &mut Input| Ok(u16::from_le_bytes(input.take()?));
        let task = |input: &mut Input| Ok(TaskId(u16::from_le_bytes(input.take()?)));
        let tree = Tree::decode(input)?;
        let tasks = input.list(2, task)?;
        let servers = input.list(2, number)?;
        let children = input.list(2 + 1 + 2 + 8, |input| {
            Ok(Child {
                plan: number(input)?,
                core: CoreId(input.byte()?),
                proxy: task(input)?,
                tasks: input.list(2, task)?,
            })
        })?;
        Ok(SchedulerPlan { tree, tasks, servers, children })
    }
}
