//! The stored form of the parameters.

use super::{Dual, DualNow, Mixed, MixedOrder};
use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_time::TaskId;

const DUAL_BYTES: usize = 8 + 4 + 8;
const NOW_BYTES: usize = 2 + 3 * 8;

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
            [now.low, now.own, now.virtual_deadline].iter().for_each(|length| put(out, length.as_nanos()));
        }
    }

    fn decode(input: &mut Input) -> Result<Vec<DualNow>, DecodeError> {
        input.list(NOW_BYTES, |input| {
            let task = TaskId(u16::from_le_bytes(input.take()?));
            Ok(DualNow { task, low: input.time()?, own: input.time()?, virtual_deadline: input.time()? })
        })
    }
}
