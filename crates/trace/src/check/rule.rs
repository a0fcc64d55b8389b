//! The rules of every run, and what breaks one.

use std::fmt;
use tactus_time::{CoreId, Instant, TaskId};

/// Something in a trace that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// When.
    pub time: Instant,
    /// Where.
    pub core: CoreId,
    /// The task concerned, if there is one.
    pub task: Option<TaskId>,
    /// The job concerned, where one is.
    pub job: Option<u32>,
    /// What happened, for a person.
    pub text: String,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Records name only tasks and cores that the system has.
    Known,
    /// The run was recorded to its end.
    Whole,
    /// Times never go back on one core.
    Monotone,
    /// No job is on two cores at once.
    OneCore,
    /// Release, dispatch, preemption, used-up budget, completion: only in an order that makes sense.
    Sequence,
    /// Releases are periodic to the nanosecond, and none is missing.
    Periodic,
    /// Jobs that time does not release have something that released them, and a period between them.
    Arrival,
    /// Nothing arrives earlier than its task declares, where that is a fault.
    Early,
    /// No task gets more than its budget until the next one.
    Budget,
    /// No core runs a less critical job, or nothing, while a more critical one waits for it.
    LevelOrder,
    /// Level A runs in the slots of its table, and nothing else runs there while it has something to do.
    Table,
    /// A core runs only the levels that its mode serves, and goes back to all only when nothing is left to do.
    Mode,
    /// No server has more than its kind allows.
    Supply,
    /// What comes to a server is never more than its budget, and never early.
    Replenishment,
    /// Nothing runs in a server that has no budget.
    Reservation,
    /// A partition runs in its windows and nowhere else, and no window passes it by while it has work.
    Window,
    /// Cores that share no queue send each other no events.
    NoEvents,
    /// No core idles while a job waits that it could run.
    Conserving,
    /// No job runs while a more urgent one of its queue waits.
    Order,
    /// No job begins where one that has begun keeps it off.
    Ceiling,
    /// Jobs that are not finished when they should be are left out, go on or end as their tasks say.
    Overrun,
    /// No job runs in a section on what another one has, and what cores share goes to those who asked first.
    Exclusion,
    /// No job waits longer or more often than its task declares, and each goes on then.
    Wait,
    /// A server serves whoever's turn it is, and no more in a job than it may.
    Served,
    /// Best-effort work, and no other, gives way where a counter says so, and nowhere else.
    Yield,
    /// Changes of the system take effect in their order and only if admitted; releases and budgets are those of their time.
    Change,
    /// What comes into slots and goes is what was planned, in the loader's job in which it was.
    Slot,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Known => "records name only tasks and cores of the system",
            Rule::Whole => "the run is recorded to its end",
            Rule::Monotone => "times never go back on one core",
            Rule::OneCore => "no job is on two cores at once",
            Rule::Sequence => "what happens to a job has an order",
            Rule::Periodic => "releases are periodic",
            Rule::Early => "nothing arrives earlier than it is declared to",
            Rule::Arrival => "what arrives releases a job, and nothing else does",
            Rule::Budget => "no task gets more than its budget",
            Rule::LevelOrder => "more critical jobs come first",
            Rule::Table => "level A has its slots and no others",
            Rule::Mode => "a core runs only the levels that it serves",
            Rule::Supply => "no server has more than its kind allows",
            Rule::Replenishment => "budgets come back neither early nor too large",
            Rule::Reservation => "nothing runs in a server without budget",
            Rule::Window => "a partition has its windows, and nothing else",
            Rule::NoEvents => "cores that share no queue send no events",
            Rule::Conserving => "no core idles beside work that it could do",
            Rule::Order => "the more urgent job of a queue runs",
            Rule::Ceiling => "a job that has begun keeps its core from those that its ceiling reaches",
            Rule::Exclusion => "one job at a time has a resource, and those who wait have it in their order",
            Rule::Overrun => "jobs that overrun are dealt with as their tasks say",
            Rule::Served => "servers serve whoever's turn it is",
            Rule::Wait => "jobs wait as they declare",
            Rule::Yield => "best-effort work alone gives way, where a counter says so",
            Rule::Change => "changes are made as they were admitted",
            Rule::Slot => "programs come and go as it was planned",
        })
    }
}
