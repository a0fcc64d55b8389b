//! The parameters of MC², and their stored form.

use crate::codec::{put, DecodeError, Input, Parameters};
use alloc::vec::Vec;
use tactus_task::{Slot, Table};
use tactus_time::{CoreId, Duration, TaskId};

/// Parameters of MC².
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mc2 {
    /// Whether a task of level A, B or C is held to its budget per period.
    pub enforce: bool,
    /// Whether finished jobs turn into ghosts that let lower levels run early.
    pub slack_shifting: bool,
    /// A further length that is added to every enforced budget alike, beside what each [`Task::budget`](crate::Task::budget) holds already.
    pub allowance: Duration,
    /// The level-A table of each core, in core order.
    pub tables: Vec<Table>,
}

/// What a reconfiguration brings beside the parameters of its own task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mc2Now {
    /// The tasks that have other budgets from then on, its own among them; see [`Task::budget`](crate::Task::budget).
    pub budgets: Vec<(TaskId, Duration)>,
    /// The cores that have other tables of level A.
    pub tables: Vec<(CoreId, Table)>,
}

/// Least sizes of what lists hold, so that a false count is found before memory is taken for it.
const SLOT_BYTES: usize = 2 + 2 * 8;
const TABLE_BYTES: usize = 8 + 8;

/// Adds a table.
fn put_table(out: &mut Vec<u8>, table: &Table) {
    put(out, table.cycle.as_nanos());
    put(out, table.slots.len() as u64);
    for slot in &table.slots {
        out.extend(slot.task.0.to_le_bytes());
        put(out, slot.start.as_nanos());
        put(out, slot.end.as_nanos());
    }
}

impl Parameters for Mc2 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend([u8::from(self.enforce), u8::from(self.slack_shifting)]);
        put(out, self.allowance.as_nanos());
        put(out, self.tables.len() as u64);
        self.tables.iter().for_each(|table| put_table(out, table));
    }
    fn decode(input: &mut Input) -> Result<Mc2, DecodeError> {
        Ok(Mc2 {
            enforce: input.boolean()?,
            slack_shifting: input.boolean()?,
            allowance: input.time()?,
            tables: input.list(TABLE_BYTES, table)?,
        })
    }
}

impl Parameters for Mc2Now {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.budgets.len() as u64);
        for (task, budget) in &self.budgets {
            out.extend(task.0.to_le_bytes());
            put(out, budget.as_nanos());
        }
        put(out, self.tables.len() as u64);
        for (core, table) in &self.tables {
            out.push(core.0);
            put_table(out, table);
        }
    }
    fn decode(input: &mut Input) -> Result<Mc2Now, DecodeError> {
        let budgets = input.list(2 + 8, |input| Ok((TaskId(u16::from_le_bytes(input.take()?)), input.time()?)))?;
        let tables = input.list(1 + TABLE_BYTES, |input| Ok((CoreId(input.byte()?), table(input)?)))?;
        Ok(Mc2Now { budgets, tables })
    }
}

fn table(input: &mut Input) -> Result<Table, DecodeError> {
    Ok(Table { cycle: input.time()?, slots: input.list(SLOT_BYTES, slot)? })
}
fn slot(input: &mut Input) -> Result<Slot, DecodeError> {
    Ok(Slot { task: TaskId(u16::from_le_bytes(input.take()?)), start: input.time()?, end: input.time()? })
}
