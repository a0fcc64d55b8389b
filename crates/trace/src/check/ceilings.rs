//! What jobs that have begun keep from others on their core, as the rules of waiting need it: a job may wait for a less urgent
//! one only where such a ceiling reaches it, and may not begin there; or where it waits for what that one holds.

use super::holders::Holders;
use crate::view::CeilingView;
use crate::view::InTree;
use tactus_record::{EventKind, InputKind, Record};
use tactus_time::{CoreId, TaskId};

/// Which jobs have begun, and what they keep from others.
pub(super) struct Ceilings<'v> {
    view: &'v CeilingView,
    tasks: &'v [InTree],
    /// By task: whether its oldest unfinished job has begun.
    begun: Vec<bool>,
    holders: Holders<'v>,
}

impl<'v> Ceilings<'v> {
    pub(super) fn new(view: &'v CeilingView, tasks: &'v [InTree]) -> Self {
        Ceilings { view, tasks, begun: vec![false; tasks.len()], holders: Holders::new(view, true) }
    }

    /// Whether a record concerns critical sections.
    pub(super) fn concerns(r: &Record) -> bool {
        r.kind == EventKind::Input && r.level == InputKind::Section as u8
    }

    /// Whether the task's oldest job has begun.
    pub(super) fn has_begun(&self, task: TaskId) -> bool {
        self.begun[task.index()]
    }

    /// Takes a record into account.
    pub(super) fn step(&mut self, r: &Record) {
        self.holders.step(r);
        let Some(begun) = r.task.and_then(|task| self.begun.get_mut(task.index())) else { return };
        match r.kind {
            EventKind::Dispatch => *begun = true,
            // After a wait it begins anew.
            EventKind::Complete | EventKind::Wait | EventKind::Removed => *begun = false,
            // One that is left out at its release is not the oldest.
            EventKind::Dropped if r.arg != 0 => *begun = false,
            _ => {}
        }
    }

    /// The task whose job runs in place of this one's, which waits for what it holds.
    pub(super) fn proxy(&self, task: TaskId) -> Option<TaskId> {
        self.holders.proxy(task.index()).map(|other| TaskId(other as u16))
    }

    /// Whether a job keeps the core and waits for a resource of several cores.
    pub(super) fn spins(&self, core: CoreId) -> bool {
        (0..self.tasks.len()).any(|n| self.tasks[n].core == Some(core) && self.holders.spins(n))
    }

    /// A job that has begun and keeps the task's oldest job from beginning on its core, if there is one.
    pub(super) fn keeps_off(&self, task: TaskId) -> Option<TaskId> {
        let n = task.index();
        let reaches = |other: &usize| {
            let here = *other != n && self.tasks[*other].core == self.tasks[n].core;
            here && self.begun[*other] && self.view.reaches((*other, self.holders.held(*other)), n)
        };
        let waits = !self.begun[n];
        (0..self.tasks.len()).find(reaches).filter(|_| waits).map(|other| TaskId(other as u16))
    }
}
