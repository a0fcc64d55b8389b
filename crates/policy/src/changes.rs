//! Changes of what has no tree: tasks of AMC, EDF-VD and MC² that begin, end and get other values while the system runs. What
//! a change waits for and what comes of it is told where each policy makes them ([`crate::mixed`], [`crate::mc2`]).

use crate::codec::{put, DecodeError, Input, Parameters};
use crate::tree::{change, put_change, Action, Change, Part, Protocol, CHANGE_BYTES};
use crate::{PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant, TaskId};

/// The parameters of a policy, and how its tasks change while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changeable<K, N> {
    /// The parameters as they are at the start. They tell of all tasks that are there at some time.
    pub policy: K,
    /// The tasks that are not there at the start.
    pub absent: Vec<TaskId>,
    /// The changes, of tasks only, in the order in which they are asked for.
    pub changes: Vec<Change>,
    /// What comes of each for all that it concerns, in their order.
    pub effects: Vec<N>,
    /// When they take effect.
    pub protocol: Protocol,
}

/// Finds the first thing that is wrong with the changes; `effect` looks at what comes of one.
pub(crate) fn check<K, N>(
    setup: &PolicyConfig,
    all: &Changeable<K, N>,
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

/// When a change is asked for.
pub(crate) fn asked_at(change: &Change) -> Instant {
    Instant::ZERO.saturating_add(change.at)
}

impl<K: Parameters, N: Parameters> Parameters for Changeable<K, N> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.policy.encode(out);
        put(out, self.absent.len() as u64);
        self.absent.iter().for_each(|task| out.extend(task.0.to_le_bytes()));
        put(out, self.changes.len() as u64);
        self.changes.iter().for_each(|change| put_change(out, change));
        put(out, self.effects.len() as u64);
        self.effects.iter().for_each(|effect| effect.encode(out));
        out.push(u8::from(self.protocol == Protocol::AtOnce));
    }

    fn decode(input: &mut Input) -> Result<Changeable<K, N>, DecodeError> {
        Ok(Changeable {
            policy: K::decode(input)?,
            absent: input.list(2, |input| Ok(TaskId(u16::from_le_bytes(input.take()?))))?,
            changes: input.list(CHANGE_BYTES, change)?,
            // Each has at least a count.
            effects: input.list(8, N::decode)?,
            protocol: match input.boolean()? {
                false => Protocol::Quiet,
                true => Protocol::AtOnce,
            },
        })
    }
}
