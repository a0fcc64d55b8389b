//! What jobs that have begun keep from others on their core, as the rules of waiting need it: a job may wait for a less urgent
//! one only where such a ceiling reaches it, and may not begin there.

use super::tree::InTree;
use tactus_record::{EventKind, Record};
use tactus_time::TaskId;

/// The ceilings of a system in which no two cores share a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CeilingView {
    /// By task: its preemption level; the less, the higher.
    pub levels: Vec<u64>,
    /// By task: the level from which on others may not take the core from a job of it that has begun.
    pub thresholds: Vec<Option<u64>>,
}

/// Which jobs have begun, and what they keep from others.
pub(super) struct Ceilings<'v> {
    view: &'v CeilingView,
    tasks: &'v [InTree],
    /// By task: whether its oldest unfinished job has begun.
    begun: Vec<bool>,
}

impl<'v> Ceilings<'v> {
    pub(super) fn new(view: &'v CeilingView, tasks: &'v [InTree]) -> Self {
        Ceilings { view, tasks, begun: vec![false; tasks.len()] }
    }

    /// Whether the task's oldest job has begun.
    pub(super) fn has_begun(&self, task: TaskId) -> bool {
        self.begun[task.index()]
    }

    /// Takes a record into account.
    pub(super) fn step(&mut self, r: &Record) {
        let Some(begun) = r.task.and_then(|task| self.begun.get_mut(task.index())) else { return };
        match r.kind {
            EventKind::Dispatch => *begun = true,
            EventKind::Complete | EventKind::Removed => *begun = false,
            // One that is left out at its release is not the oldest.
            EventKind::Dropped if r.arg != 0 => *begun = false,
            _ => {}
        }
    }

    /// A job that has begun and keeps the task's oldest job from beginning on its core, if there is one.
    pub(super) fn keeps_off(&self, task: TaskId) -> Option<TaskId> {
        let n = task.index();
        let level = *self.view.levels.get(n)?;
        let reaches = |other: &usize| {
            *other != n
                && self.begun[*other]
                && self.tasks[*other].core == self.tasks[n].core
                && self.view.thresholds.get(*other).copied().flatten().is_some_and(|threshold| level >= threshold)
        };
        (!self.begun[n]).then(|| (0..self.tasks.len()).find(reaches)).flatten().map(|other| TaskId(other as u16))
    }
}
