//! What jobs that have begun keep from others on their core, as the rules of waiting need it: a job may wait for a less urgent
//! one only where such a ceiling reaches it, and may not begin there; or where it waits for what that one holds.

use super::holders::Holders;
use super::tree::InTree;
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{ResourceProtocol, Sections};
use tactus_time::{CoreId, TaskId};

/// The ceilings of a system in which no two cores share a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CeilingView {
    /// By task: its preemption level; the less, the higher, and of equal ones the lower task's.
    pub levels: Vec<u64>,
    /// By task: the level from which on others may not take the core from a job of it that has begun.
    pub thresholds: Vec<Option<u64>>,
    /// The core of each task.
    pub cores: Vec<Option<CoreId>>,
    /// The resources.
    pub resources: Vec<ResourceView>,
}

/// A resource.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceView {
    /// Who may not begin while it is held, and who runs while another one waits for it.
    pub protocol: ResourceProtocol,
    /// Whether it is taken from a job that holds it for longer than declared.
    pub withdrawn: bool,
    /// Who uses it.
    pub users: Vec<TaskId>,
}

impl CeilingView {
    /// Whether a job of `waiting` may not begin while one of `other`, on its core, has begun and holds these resources.
    fn reaches(&self, (other, held): (usize, Sections), waiting: usize) -> bool {
        let level = |n: usize| self.levels.get(n).map(|level| (*level, n));
        let Some(own) = level(waiting) else { return false };
        let by_threshold = self.thresholds.get(other).copied().flatten().is_some_and(|threshold| own.0 >= threshold);
        let by_resource = |resource: u8| match self.resources.get(usize::from(resource)) {
            None => false,
            Some(it) => match it.protocol {
                ResourceProtocol::Inheritance => false,
                ResourceProtocol::NonPreemptive | ResourceProtocol::Fmlp => true,
                ResourceProtocol::Msrp if self.spans(resource.into()) => true,
                ResourceProtocol::Ceiling | ResourceProtocol::Msrp => {
                    it.users.iter().filter_map(|user| level(user.index())).any(|user| user <= own)
                }
            },
        };
        by_threshold || held.iter().any(by_resource)
    }

    /// Whether tasks of several cores use the resource.
    pub fn spans(&self, resource: usize) -> bool {
        let users = self.resources.get(resource).map_or(&[][..], |it| it.users.as_slice());
        let mut cores = users.iter().map(|user| self.cores.get(user.index()).copied().flatten());
        let first = cores.next();
        cores.any(|core| Some(core) != first)
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
