//! Resources that one job at a time may hold, and the critical sections in which jobs hold them.

use crate::{Scheduling, Section, System, Task};
use tactus_task::CriticalSection;

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
