//! Resources that one job at a time may hold, and the critical sections in which jobs hold them.

use tactus_task::ResourceProtocol;
use tactus_time::Duration;

/// A resource that one job at a time may hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// Name, unique.
    pub name: String,
    /// Who may not begin while it is held, and who runs while another one waits for it.
    pub protocol: ResourceProtocol,
    /// Whether it is taken from a job that holds it for longer than declared, so that others keep their promises; else the job keeps it,
    /// and others wait.
    pub withdrawn: bool,
    /// Line of the system file at which it begins, for messages.
    pub line: usize,
}

/// A critical section of each job of a task. Those of a task lie one inside the other or one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// The resource, by its index in [`Scheduling::resources`](crate::Scheduling::resources).
    pub resource: usize,
    /// How long the job executes before it.
    pub after: Duration,
    /// How long the job executes in it at most.
    pub length: Duration,
    /// How long the built-in workload really executes in it; nothing if as long as it may.
    pub actual: Option<Duration>,
}

impl Section {
    /// What the job has executed when it leaves the section, where it does what it declares.
    pub fn end(&self) -> Duration {
        self.after.checked_add(self.length).unwrap_or(Duration::MAX)
    }

    /// What the built-in workload has executed when it leaves the section.
    pub fn actual_end(&self) -> Duration {
        self.after.checked_add(self.actual.unwrap_or(self.length)).unwrap_or(Duration::MAX)
    }

    /// Whether the other one lies inside this one.
    pub fn holds(&self, other: &Section) -> bool {
        self != other && self.after <= other.after && other.end() <= self.end()
    }
}
