//! The stored form of the parameters.

use super::{Dual, Mixed, MixedOrder};
use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;

const DUAL_BYTES: usize = 8 + 4 + 8;

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
