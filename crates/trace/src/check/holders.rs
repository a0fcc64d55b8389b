//! Resources: who may not begin while one is held, who holds which, and who waits for one, by what jobs say of themselves.

use crate::view::CeilingView;
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{ResourceProtocol, Sections};
use tactus_time::TaskId;

impl CeilingView {
    /// Whether a job of `waiting` may not begin while one of `other`, on its core, has begun and holds these resources.
    pub(super) fn reaches(&self, (other, held): (usize, Sections), waiting: usize) -> bool {
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

/// What jobs hold and want of the resources for which jobs wait.
#[derive(Debug)]
pub(super) struct Holders<'v> {
    view: &'v CeilingView,
    /// By task: what its oldest job says that it holds, and how many of the outermost it has.
    jobs: Vec<(Sections, usize)>,
    /// By task: how many of the outermost its oldest job may have at most, once more than that was refused or withdrawn, until it says that it
    /// holds no more.
    barred: Vec<usize>,
    /// By resource: the task whose job has it, where jobs wait for it.
    pub(super) owners: Vec<Option<usize>>,
    /// Whether a job that runs is taken to have what it wants of resources of several cores: where records of several cores at one
    /// instant are not in the order of their causes, and the check of that is another's.
    trusts: bool,
}

impl<'v> Holders<'v> {
    pub(super) fn new(view: &'v CeilingView, trusts: bool) -> Self {
        Holders {
            trusts,
            jobs: vec![(Sections::NONE, 0); view.levels.len()],
            barred: vec![Sections::DEEPEST; view.levels.len()],
            owners: vec![None; view.resources.len()],
            view,
        }
    }

    /// Whether jobs wait for the resource in the middle of their work.
    fn is_awaited(&self, resource: u8) -> bool {
        let r = usize::from(resource);
        let inherits = self.view.resources.get(r).is_some_and(|it| it.protocol == ResourceProtocol::Inheritance);
        inherits || self.view.spans(r)
    }

    /// Takes a record into account.
    pub(super) fn step(&mut self, r: &Record) {
        let Some(n) = r.task.map(TaskId::index).filter(|n| *n < self.jobs.len()) else { return };
        match r.kind {
            EventKind::Input if r.level == InputKind::Section as u8 => {
                let said = Sections::from_bits(r.job);
                let (word, held) = self.jobs[n];
                let same = word.outermost(held).iter().zip(said.iter()).take_while(|(a, b)| a == b).count();
                self.keep(n, same);
                if said.depth() <= self.barred[n] {
                    self.barred[n] = Sections::DEEPEST;
                }
                self.jobs[n].0 = said.outermost(said.depth().min(self.barred[n]));
                self.take(n, |spans| !spans);
            }
            EventKind::Dispatch | EventKind::Leave => self.take(n, |_| true),
            EventKind::Complete | EventKind::Removed | EventKind::Wait => self.end(n),
            EventKind::Dropped if r.arg != 0 => self.end(n),
            EventKind::SectionRefused => self.bar(n, (r.arg >> 8) as usize),
            EventKind::SectionExceeded if self.view.resources.get(r.arg as usize).is_some_and(|it| it.withdrawn) => {
                if let Some(at) = self.jobs[n].0.iter().position(|it| u64::from(it) == r.arg) {
                    self.bar(n, at);
                }
            }
            _ => {}
        }
    }

    /// Takes what the job says that it holds, as far as nobody else has it and it `may`, told whether cores share it.
    fn take(&mut self, n: usize, may: impl Fn(bool) -> bool) {
        while let Some(resource) = self.wanted(n) {
            let r = usize::from(resource);
            if self.is_awaited(resource) {
                let spans = self.view.spans(r);
                let taken = self.owners[r].is_some_and(|owner| owner != n) && !(spans && self.trusts);
                if taken || !may(spans) {
                    return;
                }
                self.owners[r] = Some(n);
            }
            self.jobs[n].1 += 1;
        }
    }

    /// What the task's job says that it holds and does not have.
    pub(super) fn wanted(&self, n: usize) -> Option<u8> {
        let (word, held) = self.jobs[n];
        word.iter().nth(held)
    }

    /// The job has only so many of the outermost, and wants no more.
    fn keep(&mut self, n: usize, keeps: usize) {
        let (word, held) = self.jobs[n];
        let kept = |resource: &u8| word.iter().take(keeps).any(|it| it == *resource);
        for resource in word.iter().take(held).skip(keeps).filter(|resource| !kept(resource)) {
            if let Some(owner) = self.owners.get_mut(usize::from(resource)).filter(|owner| **owner == Some(n)) {
                *owner = None;
            }
        }
        self.jobs[n] = (word.outermost(keeps), keeps.min(held));
    }

    /// From here on the job has at most this number of outermost ones, whatever it says.
    fn bar(&mut self, n: usize, most: usize) {
        self.barred[n] = self.barred[n].min(most);
        self.keep(n, most);
    }

    fn end(&mut self, n: usize) {
        self.keep(n, 0);
        self.jobs[n] = (Sections::NONE, 0);
        self.barred[n] = Sections::DEEPEST;
    }

    /// What the job has.
    pub(super) fn held(&self, n: usize) -> Sections {
        self.jobs[n].0.outermost(self.jobs[n].1)
    }

    /// The task whose job has what this one's waits for.
    pub(super) fn awaited(&self, n: usize) -> Option<usize> {
        let wanted = self.wanted(n).filter(|resource| self.is_awaited(*resource))?;
        self.owners[usize::from(wanted)].filter(|owner| *owner != n)
    }

    /// The task whose job runs in place of this one's, which waits for it, directly or by way of others; nothing if it does not wait.
    pub(super) fn proxy(&self, n: usize) -> Option<usize> {
        let mut at = self.awaited(n)?;
        for _ in 0..self.jobs.len() {
            match self.awaited(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        Some(at)
    }

    /// Whether the task's job waits for a resource of several cores, and keeps its core meanwhile.
    pub(super) fn spins(&self, n: usize) -> bool {
        self.wanted(n).is_some_and(|resource| self.view.spans(usize::from(resource)))
    }
}
