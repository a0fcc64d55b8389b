//! Resources that one job at a time may hold, and the critical sections in which jobs hold them.

use crate::{Scheduling, System, Task};
use tactus_task::{CriticalSection, ResourceProtocol};
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

impl Scheduling {
    /// Whether tasks of several cores use the resource.
    pub fn spans_cores(&self, resource: usize, tasks: &[Task]) -> bool {
        let uses = |n: &usize| self.sections_of(*n).iter().any(|section| section.resource == resource);
        let mut cores = (0..tasks.len()).filter(uses).map(|n| tasks[n].core);
        let first = cores.next();
        cores.any(|core| Some(core) != first)
    }

    /// By resource: its place in an order in which all jobs take them. There is one, since no two are taken in both orders.
    pub fn resource_order(&self) -> Vec<u16> {
        let mut order = vec![0; self.resources.len()];
        // One more than the largest of those around it: as long as anything grows, which is as often as there are resources.
        for _ in 0..self.resources.len() {
            for sections in &self.sections {
                for inner in sections {
                    let around = sections.iter().filter(|outer| outer.holds(inner));
                    let least = around.map(|outer| order[outer.resource] + 1).max().unwrap_or(0);
                    order[inner.resource] = least.max(order[inner.resource]);
                }
            }
        }
        order
    }
}

impl System {
    /// By task: the critical sections of each job of the built-in workload, in file order; empty if no task has any.
    pub fn critical_sections(&self) -> Vec<Vec<CriticalSection>> {
        let one = |section: &Section| CriticalSection {
            resource: section.resource as u8,
            from: section.after,
            until: section.actual_end(),
        };
        self.scheduling.sections.iter().map(|all| all.iter().map(one).collect()).collect()
    }
}
