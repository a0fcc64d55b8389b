//! What the formats have in common: periodic or sporadic tasks, and as much of the system around them as a file tells.

use crate::fault::Reason;
use crate::format::Found;
use crate::number::{self, Round};
use tactus_time::Duration;

/// A task set.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TaskSet {
    /// Its name.
    pub name: String,
    /// Number of cores, if the file tells it.
    pub cores: Option<usize>,
    /// The policy as a system file names it (`"global-edf"`), if the file tells it.
    pub policy: Option<String>,
    /// How long it runs, if the file tells it.
    pub duration: Option<Duration>,
    /// The tasks, in file order.
    pub tasks: Vec<Task>,
    /// What a person should know about how the file was taken, one sentence each.
    pub notes: Vec<String>,
}

/// A task.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// The longest execution time of a job.
    pub execution: Duration,
    /// The time between releases; greater than zero.
    pub period: Duration,
    /// The deadline relative to the release.
    pub deadline: Duration,
    /// The first release.
    pub offset: Duration,
    /// The longest time from arrival to release.
    pub jitter: Duration,
    /// The core that it is bound to, counted from 0.
    pub core: Option<usize>,
    /// Its priority, the larger the more urgent.
    pub priority: Option<u32>,
    /// Bytes of memory that a job touches.
    pub memory: u64,
}

/// Takes the times of one file in and counts what had to be rounded.
pub(crate) struct Times {
    pub unit: Duration,
    rounded: u64,
}

impl Times {
    pub fn of(unit: Duration) -> Times {
        Times { unit, rounded: 0 }
    }

    /// A time of `what` (`task 3: period`).
    pub fn read(&mut self, text: &str, unit: Duration, round: Round, (line, what): (usize, &str)) -> Found<Duration> {
        let Some(read) = number::time(text, unit, round) else {
            let expected = "a number from 0 up to the length of a day".to_string();
            return Err((line, Reason::Value { what: what.into(), found: text.chars().take(40).collect(), expected }));
        };
        self.rounded += u64::from(read.rounded);
        Ok(read.length)
    }

    pub fn note(&self, notes: &mut Vec<String>) {
        if self.rounded > 0 {
            notes.push(format!(
                "{} times were finer than a nanosecond: execution times were rounded up, all others down",
                self.rounded
            ));
        }
    }
}

impl Task {
    /// Refuses what no test and no machine can take.
    pub(crate) fn sound(&self, line: usize) -> Found<()> {
        for (what, length) in [("period", self.period), ("deadline", self.deadline), ("execution time", self.execution)]
        {
            if length.is_zero() {
                let (what, expected) = (format!("task {:?}: {what}", self.name), "more than nothing".to_string());
                return Err((line, Reason::Value { what, found: "0".into(), expected }));
            }
        }
        Ok(())
    }
}

impl TaskSet {
    /// Ties the ends together: no set without tasks, no names twice.
    pub(crate) fn finish(mut self, line: usize) -> Found<TaskSet> {
        if self.tasks.is_empty() {
            return Err((line, Reason::Missing { what: "task".into(), of: format!("set {:?}", self.name) }));
        }
        let mut seen = std::collections::HashSet::new();
        let mut changed = 0;
        for n in 0..self.tasks.len() {
            let first = self.tasks[n].name.clone();
            let mut name = first.clone();
            let mut next = 2;
            while !seen.insert(name.clone()) {
                name = format!("{first}-{next}");
                next += 1;
            }
            changed += usize::from(name != first);
            self.tasks[n].name = name;
        }
        if changed > 0 {
            self.notes.push(format!("{changed} tasks had the name of another one and got a number"));
        }
        Ok(self)
    }

    /// Σ C/T.
    pub fn utilisation(&self) -> f64 {
        self.tasks.iter().map(|task| task.execution.as_nanos() as f64 / task.period.as_nanos() as f64).sum()
    }

    /// Notes what of these a format cannot hold, where any task has it.
    pub(crate) fn lost(&self, format: crate::Format, what: &[Lossy]) -> Vec<String> {
        let mut lost = Vec::new();
        for kind in what {
            let has = |task: &&Task| match kind {
                Lossy::Offset => !task.offset.is_zero(),
                Lossy::Jitter => !task.jitter.is_zero(),
                Lossy::Core => task.core.is_some(),
                Lossy::Priority => task.priority.is_some(),
                Lossy::Memory => task.memory > 0,
            };
            match self.tasks.iter().filter(has).count() {
                0 => {}
                n => lost.push(format!("the {} of {n} tasks: {format} has no place for it", kind.name())),
            }
        }
        lost
    }
}

/// What not every format holds.
#[derive(Clone, Copy)]
pub(crate) enum Lossy {
    Offset,
    Jitter,
    Core,
    Priority,
    Memory,
}

impl Lossy {
    fn name(self) -> &'static str {
        match self {
            Lossy::Offset => "offset",
            Lossy::Jitter => "jitter",
            Lossy::Core => "core",
            Lossy::Priority => "priority",
            Lossy::Memory => "memory",
        }
    }
}
