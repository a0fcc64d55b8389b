//! The stored form of a [`PolicyConfig`]: what the image builder writes and the scheduler component reads.
//!
//! Little-endian, packed: the magic `TSET`, a version (`u16`), then the fields in the order of their declaration.
//! Counts and lengths of time are `u64`, enums and booleans one byte, and an optional core is a byte that says whether
//! it is there with a byte that says which. Nothing may follow.

use crate::{Clusters, FineMc2, Mc2, Mc2Now, PolicyConfig, PolicySpec, Priorities, Slot, Table, Task};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::{CoreId, CoreSet, Duration, Level, TaskId};

const MAGIC: [u8; 4] = *b"TSET";
const VERSION: u16 = 1;

/// Least sizes of what lists hold, so that a false count is found before memory is taken for it.
const TASK_BYTES: usize = 1 + 2 + 4 * 8;
const SLOT_BYTES: usize = 2 + 2 * 8;
const TABLE_BYTES: usize = 8 + 8;

/// Why bytes are not a [`PolicyConfig`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// They do not begin with the magic.
    Magic,
    /// They were written by another version: this one.
    Version(u16),
    /// They end too early, or a count is larger than what follows.
    Truncated,
    /// The byte at this offset has a value without meaning.
    Value(usize),
    /// So many bytes are left over at the end.
    Trailing(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Magic => write!(f, "not a scheduler set-up: it does not begin with TSET"),
            DecodeError::Version(v) => {
                write!(
                    f,
                    "a scheduler set-up of version {v}; this program reads version {VERSION}: build the image again"
                )
            }
            DecodeError::Truncated => write!(f, "the scheduler set-up ends too early"),
            DecodeError::Value(at) => write!(f, "the scheduler set-up has a byte without meaning at offset {at}"),
            DecodeError::Trailing(n) => write!(f, "the scheduler set-up is followed by {n} bytes too many"),
        }
    }
}

impl core::error::Error for DecodeError {}

impl PolicyConfig {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        put(&mut out, self.cores as u64);
        self.kind.encode(&mut out);
        put(&mut out, self.tasks.len() as u64);
        for task in &self.tasks {
            out.push(task.level as u8);
            out.extend([u8::from(task.core.is_some()), task.core.map_or(0, |core| core.0)]);
            for time in [task.offset, task.period, task.deadline, task.budget] {
                put(&mut out, time.as_nanos());
            }
        }
        out
    }

    /// Reads the stored form. Any bytes may be given; whether the set-up makes sense is for
    /// [`Scheduler::new`](crate::Scheduler::new) to say.
    ///
    /// # Errors
    /// If the bytes are not what [`PolicyConfig::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Result<PolicyConfig, DecodeError> {
        let mut input = Input { bytes, at: 0 };
        if input.take::<4>() != Ok(MAGIC) {
            return Err(DecodeError::Magic);
        }
        let version = u16::from_le_bytes(input.take()?);
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let at = input.at;
        let cores = usize::try_from(input.number()?).map_err(|_| DecodeError::Value(at))?;
        let kind = PolicySpec::decode(&mut input)?;
        let tasks = input.list(TASK_BYTES, Input::task)?;
        input.end()?;
        Ok(PolicyConfig { cores, kind, tasks })
    }
}

pub(crate) fn put(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

/// Parameters of a policy, as they are stored behind its number.
pub(crate) trait Parameters: Sized {
    /// Adds the stored form to `out`.
    fn encode(&self, out: &mut Vec<u8>);
    /// Reads the stored form.
    fn decode(input: &mut Input) -> Result<Self, DecodeError>;
}

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
            tables: input.list(TABLE_BYTES, Input::table)?,
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
        let tables = input.list(1 + TABLE_BYTES, |input| Ok((CoreId(input.byte()?), input.table()?)))?;
        Ok(Mc2Now { budgets, tables })
    }
}

impl Parameters for FineMc2 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend([self.interrupt_master, self.timer_merging, self.work_redistribution].map(u8::from));
        self.mc2.encode(out);
    }
    fn decode(input: &mut Input) -> Result<FineMc2, DecodeError> {
        Ok(FineMc2 {
            interrupt_master: input.boolean()?,
            timer_merging: input.boolean()?,
            work_redistribution: input.boolean()?,
            mc2: Mc2::decode(input)?,
        })
    }
}

impl Parameters for Priorities {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.0.len() as u64);
        self.0.iter().for_each(|priority| out.extend(priority.to_le_bytes()));
    }
    fn decode(input: &mut Input) -> Result<Priorities, DecodeError> {
        Ok(Priorities(input.list(4, |input| input.take().map(u32::from_le_bytes))?))
    }
}

impl Parameters for Clusters {
    fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.sets.len() as u64);
        out.extend(self.sets.iter().map(|set| set.bits()));
        self.priorities.encode(out);
    }
    fn decode(input: &mut Input) -> Result<Clusters, DecodeError> {
        let sets = input.list(1, |input| input.byte().map(CoreSet::from_bits))?;
        Ok(Clusters { sets, priorities: Priorities::decode(input)? })
    }
}

/// What is still to be read. `at` never passes the end.
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Whether nothing is left; if something is, how much.
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(DecodeError::Trailing(left)),
        }
    }
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let chunk = self.bytes[self.at..].first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.at += N;
        Ok(*chunk)
    }
    /// The next byte.
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take::<1>()?[0])
    }
    /// The error for a byte without meaning that was just read.
    pub(crate) fn no_meaning(&self) -> DecodeError {
        DecodeError::Value(self.at - 1)
    }
    fn number(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.take()?))
    }
    pub(crate) fn time(&mut self) -> Result<Duration, DecodeError> {
        Ok(Duration::from_nanos(self.number()?))
    }
    pub(crate) fn boolean(&mut self) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.no_meaning()),
        }
    }
    pub(crate) fn list<T>(
        &mut self,
        least_bytes: usize,
        item: impl Fn(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = usize::try_from(self.number()?).map_err(|_| DecodeError::Truncated)?;
        if count > (self.bytes.len() - self.at) / least_bytes {
            return Err(DecodeError::Truncated);
        }
        (0..count).map(|_| item(self)).collect()
    }
    fn table(&mut self) -> Result<Table, DecodeError> {
        Ok(Table { cycle: self.time()?, slots: self.list(SLOT_BYTES, Input::slot)? })
    }
    fn slot(&mut self) -> Result<Slot, DecodeError> {
        Ok(Slot { task: TaskId(u16::from_le_bytes(self.take()?)), start: self.time()?, end: self.time()? })
    }
    fn task(&mut self) -> Result<Task, DecodeError> {
        let level = Level::from_index(self.byte()?).ok_or(DecodeError::Value(self.at - 1))?;
        let (bound, core) = (self.boolean()?, self.byte()?);
        if !bound && core != 0 {
            return Err(self.no_meaning());
        }
        Ok(Task {
            level,
            core: bound.then_some(CoreId(core)),
            offset: self.time()?,
            period: self.time()?,
            deadline: self.time()?,
            budget: self.time()?,
        })
    }
}
