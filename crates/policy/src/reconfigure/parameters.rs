//! Reconfigurations as a set-up and an image hold them.

use crate::codec::{put, put_optional, DecodeError, Input, Parameters};
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
    /// Whether what it brings was computed from all tasks, with all reconfigurations that were requested before. It is refused
    /// after one of these was.
    pub depends: bool,
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
    Alter(Alteration),
}

/// The parameters that a reconfiguration names. What it does not name stays, whatever became of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Alteration {
    /// The execution time of a task, the budget of a server.
    pub time: Option<Duration>,
    /// The period.
    pub period: Option<Duration>,
    /// The relative deadline of a task; that of a task whose deadline was its period is its new period, if nothing is named.
    pub deadline: Option<Duration>,
    /// The priority.
    pub priority: Option<u32>,
}

impl Alteration {
    /// Whether no length that it names is zero.
    pub(crate) fn is_sound(&self) -> bool {
        ![self.time, self.period].into_iter().flatten().any(|length| length.is_zero())
    }

    /// Time and period of a part after it, from those before.
    pub(crate) fn lengths(&self, (time, period): (Duration, Duration)) -> (Duration, Duration) {
        (self.time.unwrap_or(time), self.period.unwrap_or(period))
    }

    /// What a part with these parameters has after it.
    pub fn of(&self, before: Values) -> Values {
        let period = self.period.unwrap_or(before.period);
        let implicit = if before.deadline == before.period { period } else { before.deadline };
        Values {
            time: self.time.unwrap_or(before.time),
            period,
            deadline: self.deadline.unwrap_or(implicit),
            priority: self.priority.unwrap_or(before.priority),
        }
    }
}

/// All of them named.
impl From<Values> for Alteration {
    fn from(Values { time, period, deadline, priority }: Values) -> Alteration {
        let (time, period, deadline) = (Some(time), Some(period), Some(deadline));
        Alteration { time, period, deadline, priority: Some(priority) }
    }
}

/// All parameters of a task or server.
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

pub(crate) const PART_BYTES: usize = 1 + 2;
pub(crate) const CHANGE_BYTES: usize = 8 + PART_BYTES + 1 + 1 + 1 + 1;

pub(crate) fn put_part(out: &mut Vec<u8>, part: Part) {
    let (kind, place) = match part {
        Part::Task(task) => (0, task.0),
        Part::Server(place) => (1, place),
    };
    out.push(kind);
    out.extend(place.to_le_bytes());
}

pub(crate) fn part(input: &mut Input) -> Result<Part, DecodeError> {
    let server = input.boolean()?;
    let place = u16::from_le_bytes(input.take()?);
    Ok(if server { Part::Server(place) } else { Part::Task(TaskId(place)) })
}

pub(crate) fn put_change(out: &mut Vec<u8>, change: &Change) {
    put(out, change.at.as_nanos());
    put_part(out, change.part);
    out.extend([change.admitted, change.drains, change.depends].map(u8::from));
    match change.action {
        Action::Add => out.push(0),
        Action::Remove => out.push(1),
        Action::Alter(values) => {
            out.push(2);
            for length in [values.time, values.period, values.deadline] {
                put_optional(out, length.map(Duration::as_nanos));
            }
            put_optional(out, values.priority.map(u64::from));
        }
    }
}

pub(crate) fn change(input: &mut Input) -> Result<Change, DecodeError> {
    let (at, part) = (input.time()?, part(input)?);
    let (admitted, drains, depends) = (input.boolean()?, input.boolean()?, input.boolean()?);
    let action = match input.byte()? {
        0 => Action::Add,
        1 => Action::Remove,
        2 => Action::Alter(Alteration {
            time: input.optional()?.map(Duration::from_nanos),
            period: input.optional()?.map(Duration::from_nanos),
            deadline: input.optional()?.map(Duration::from_nanos),
            priority: input.optional()?.map(|n| u32::try_from(n).map_err(|_| input.no_meaning())).transpose()?,
        }),
        _ => return Err(input.no_meaning()),
    };
    Ok(Change { at, part, action, admitted, drains, depends })
}
