//! Reconfigurations as a set-up and an image hold them.

use crate::codec::{put, DecodeError, Input, Parameters};
use crate::tree::{change, put_change, CHANGE_BYTES};
use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant, TaskId};

/// A reconfiguration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// When it is requested, from the start of the run.
    pub at: Duration,
    /// What it concerns.
    pub part: Part,
    /// What is done.
    pub action: Action,
    /// Admission has found that all promises will be kept.
    pub admitted: bool,
    /// Whether it waits until no server around its target has anything to run, and a server that is altered has no work at all.
    pub drains: bool,
}

/// What is reconfigured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A task.
    Task(TaskId),
    /// A server, by its index in the tree.
    Server(u16),
}

/// What is done with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It begins.
    Add,
    /// It ends.
    Remove,
    /// It has these parameters from then on.
    Alter(Values),
}

/// All parameters of a task or server after it was altered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Values {
    /// The execution time of a task, the budget of a server.
    pub time: Duration,
    /// The period.
    pub period: Duration,
    /// The relative deadline of a task; a server's is not used.
    pub deadline: Duration,
    /// The priority.
    pub priority: u32,
}

/// When reconfigurations are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// At the first instant at which nothing that was released before is unfinished.
    #[default]
    IdleInstant,
    /// When they are requested, which breaks promises: a reference to compare with, not to be relied upon.
    Immediate,
}

/// The parameters of a policy without a tree, and how its tasks are reconfigured while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reconfigurable<K, N> {
    /// The parameters as they are at the start. All tasks are among them that are there at some time.
    pub policy: K,
    /// The tasks that are not there at the start.
    pub absent: Vec<TaskId>,
    /// The reconfigurations, of tasks only, in the order in which they are requested.
    pub changes: Vec<Change>,
    /// What each brings to all tasks that it concerns, in the same order.
    pub effects: Vec<N>,
    /// When they are applied.
    pub protocol: Protocol,
}

/// Finds the first thing that is wrong with the reconfigurations; `effect` looks at what one brings.
pub(crate) fn check<K, N>(
    setup: &PolicyConfig,
    all: &Reconfigurable<K, N>,
    effect: impl Fn(TaskId, &N) -> Result<(), PolicyConfigError>,
) -> Result<(), PolicyConfigError> {
    let known = |task: TaskId| task.index() < setup.tasks.len();
    if !all.absent.iter().all(|task| known(*task)) {
        return Err(PolicyConfigError::ChangePart(u32::MAX));
    }
    if all.effects.len() != all.changes.len() {
        return Err(PolicyConfigError::ChangeEffects(all.effects.len()));
    }
    let mut last = Duration::ZERO;
    for (n, (change, then)) in all.changes.iter().zip(&all.effects).enumerate() {
        let sound = match change.action {
            Action::Alter(values) => !values.time.is_zero() && !values.period.is_zero(),
            Action::Add | Action::Remove => true,
        };
        match change.part {
            Part::Task(task) if known(task) && sound && change.at >= last => effect(task, then)?,
            _ => return Err(PolicyConfigError::ChangePart(n as u32)),
        }
        last = change.at;
    }
    Ok(())
}

/// When a reconfiguration is requested.
pub(crate) fn requested_at(change: &Change) -> Instant {
    Instant::ZERO.saturating_add(change.at)
}

impl<K: Parameters, N: Parameters> Parameters for Reconfigurable<K, N> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.policy.encode(out);
        put(out, self.absent.len() as u64);
        self.absent.iter().for_each(|task| out.extend(task.0.to_le_bytes()));
        put(out, self.changes.len() as u64);
        self.changes.iter().for_each(|change| put_change(out, change));
        put(out, self.effects.len() as u64);
        self.effects.iter().for_each(|effect| effect.encode(out));
        out.push(u8::from(self.protocol == Protocol::Immediate));
    }

    fn decode(input: &mut Input) -> Result<Reconfigurable<K, N>, DecodeError> {
        Ok(Reconfigurable {
            policy: K::decode(input)?,
            absent: input.list(2, |input| Ok(TaskId(u16::from_le_bytes(input.take()?))))?,
            changes: input.list(CHANGE_BYTES, change)?,
            // Each has at least a count.
            effects: input.list(8, N::decode)?,
            protocol: match input.boolean()? {
                false => Protocol::IdleInstant,
                true => Protocol::Immediate,
            },
        })
    }
}
