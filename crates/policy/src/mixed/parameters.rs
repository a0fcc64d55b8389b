//! The parameters of a policy with two levels of criticality, and their stored form.

use crate::codec::{put, put_optional, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_time::{Duration, TaskId};

/// Parameters of a policy with two levels of criticality.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mixed {
    /// How jobs are ordered.
    pub order: MixedOrder,
    /// What each task has beside its [`Task`](crate::Task), in the order of the set-up's tasks.
    pub tasks: Vec<Dual>,
}

/// How jobs of two levels of criticality are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MixedOrder {
    /// By [`Dual::priority`] (AMC).
    FixedPriority,
    /// By deadlines, while all are served by [`Dual::virtual_deadline`] (EDF-VD).
    VirtualDeadline,
}

/// A task with two levels of criticality. It is critical if its [`Task::level`](crate::Task::level) is A; its
/// [`Task::budget`](crate::Task::budget) is the one at its own level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dual {
    /// What its jobs may take while all are served; no more than the budget at its own level.
    pub low: Duration,
    /// The larger goes first, where priorities order.
    pub priority: u32,
    /// From a release to the deadline by which the job competes while all are served, where deadlines order.
    pub virtual_deadline: Duration,
}

/// What a task has anew from a change on, its own or that of another task of its core; what is not said stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DualNow {
    /// Which.
    pub task: TaskId,
    /// What its jobs may take while all are served.
    pub low: Option<Duration>,
    /// What they may take at its own level.
    pub own: Option<Duration>,
    /// As [`Dual::virtual_deadline`].
    pub virtual_deadline: Option<Duration>,
}

const DUAL_BYTES: usize = 8 + 4 + 8;
const NOW_BYTES: usize = 2 + 3;

impl Parameters for Mixed {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.order == MixedOrder::VirtualDeadline));
        put(out, self.tasks.len() as u64);
        for task in &self.tasks {
            put(out, task.low.as_nanos());
            out.extend(task.priority.to_le_bytes());
            put(out, task.virtual_deadline.as_nanos());
        }
    }

    fn decode(input: &mut Input) -> Result<Mixed, DecodeError> {
        let order = match input.boolean()? {
            false => MixedOrder::FixedPriority,
            true => MixedOrder::VirtualDeadline,
        };
        let tasks = input.list(DUAL_BYTES, |input| {
            let low = input.time()?;
            Ok(Dual { low, priority: u32::from_le_bytes(input.take()?), virtual_deadline: input.time()? })
        })?;
        Ok(Mixed { order, tasks })
    }
}

impl Parameters for Vec<DualNow> {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.len() as u64);
        for now in self {
            out.extend(now.task.0.to_le_bytes());
            let lengths = [now.low, now.own, now.virtual_deadline];
            lengths.iter().for_each(|length| put_optional(out, length.map(Duration::as_nanos)));
        }
    }

    fn decode(input: &mut Input) -> Result<Vec<DualNow>, DecodeError> {
        input.list(NOW_BYTES, |input| {
            let task = TaskId(u16::from_le_bytes(input.take()?));
            let mut length = || Ok(input.optional()?.map(Duration::from_nanos));
            Ok(DualNow { task, low: length()?, own: length()?, virtual_deadline: length()? })
        })
    }
}
