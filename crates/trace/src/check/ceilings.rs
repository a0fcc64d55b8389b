//! What jobs that have begun keep from others on their core, as the rules of waiting need it: a job may wait for a less urgent
//! one only where such a ceiling reaches it, and may not begin there.

use super::tree::InTree;
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{ResourceProtocol, Sections};
use tactus_time::TaskId;

/// The ceilings of a system in which no two cores share a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CeilingView {
    /// By task: its preemption level; the less, the higher, and of equal ones the lower task's.
    pub levels: Vec<u64>,
    /// By task: the level from which on others may not take the core from a job of it that has begun.
    pub thresholds: Vec<Option<u64>>,
    /// By resource: who may not begin while it is held, and who uses it.
    pub resources: Vec<(ResourceProtocol, Vec<TaskId>)>,
}

impl CeilingView {
    /// Whether a job of `waiting` may not begin while one of `other`, on its core, has begun and holds these resources.
    fn reaches(&self, (other, held): (usize, Sections), waiting: usize) -> bool {
        let level = |n: usize| self.levels.get(n).map(|level| (*level, n));
        let Some(own) = level(waiting) else { return false };
        let by_threshold = self.thresholds.get(other).copied().flatten().is_some_and(|threshold| own.0 >= threshold);
        let by_resource = |resource: u8| match self.resources.get(usize::from(resource)) {
            None => false,
            Some((ResourceProtocol::NonPreemptive, _)) => true,
            Some((ResourceProtocol::Ceiling, users)) => {
                users.iter().filter_map(|user| level(user.index())).any(|user| user <= own)
            }
        };
        by_threshold || held.iter().any(by_resource)
    }

    /// Whether jobs of a task may ever keep those of another from beginning, by its threshold; by its sections only as long as it
    /// declares.
    pub(crate) fn may_keep_off(&self, culprit: TaskId, victim: TaskId) -> bool {
        self.reaches((culprit.index(), Sections::NONE), victim.index())
    }
}

/// Which jobs have begun, and what they keep from others.
pub(super) struct Ceilings<'v> {
    view: &'v CeilingView,
    tasks: &'v [InTree],
    /// By task: what its oldest unfinished job holds, if it has begun.
    begun: Vec<Option<Sections>>,
}

impl<'v> Ceilings<'v> {
    pub(super) fn new(view: &'v CeilingView, tasks: &'v [InTree]) -> Self {
        Ceilings { view, tasks, begun: vec![None; tasks.len()] }
    }

    /// Whether a record concerns critical sections.
    pub(super) fn concerns(r: &Record) -> bool {
        r.kind == EventKind::Input && r.level == InputKind::Section as u8
    }

    /// Whether the task's oldest job has begun.
    pub(super) fn has_begun(&self, task: TaskId) -> bool {
        self.begun[task.index()].is_some()
    }

    /// Takes a record into account.
    pub(super) fn step(&mut self, r: &Record) {
        let Some(begun) = r.task.and_then(|task| self.begun.get_mut(task.index())) else { return };
        match r.kind {
            EventKind::Dispatch => _ = begun.get_or_insert_default(),
            // After a wait it begins anew.
            EventKind::Complete | EventKind::Wait | EventKind::Removed => *begun = None,
            // One that is left out at its release is not the oldest.
            EventKind::Dropped if r.arg != 0 => *begun = None,
            EventKind::Input if Ceilings::concerns(r) => {
                if let Some(held) = begun {
                    *held = Sections::from_bits(r.job);
                }
            }
            _ => {}
        }
    }

    /// A job that has begun and keeps the task's oldest job from beginning on its core, if there is one.
    pub(super) fn keeps_off(&self, task: TaskId) -> Option<TaskId> {
        let n = task.index();
        let reaches = |other: &usize| {
            let held = self.begun[*other].filter(|_| *other != n && self.tasks[*other].core == self.tasks[n].core);
            held.is_some_and(|held| self.view.reaches((*other, held), n))
        };
        let waits = self.begun[n].is_none();
        (0..self.tasks.len()).find(reaches).filter(|_| waits).map(|other| TaskId(other as u16))
    }
}
