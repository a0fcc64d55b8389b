//! Who holds which resource, and who waits for one: by what jobs say of themselves, taken in the order in which decisions were made.

use super::{CeilingView, Rule, Violation};
use crate::order::in_order;
use crate::{run_end, Trace, View};
use tactus_record::{EventKind, InputKind, Record};
use tactus_task::{ResourceProtocol, Sections};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// What jobs hold and want of the resources for which jobs wait.
#[derive(Debug)]
pub(super) struct Holders<'v> {
    view: &'v CeilingView,
    /// By task: what its oldest job says that it holds, and how many of the outermost it has.
    jobs: Vec<(Sections, usize)>,
    /// By resource: the task whose job has it, where jobs wait for it.
    owners: Vec<Option<usize>>,
    /// Whether a job that runs is taken to have what it wants of resources of several cores: where records of several cores at one
    /// instant are not in the order of their causes, and the check of that is another's.
    trusts: bool,
}

impl<'v> Holders<'v> {
    pub(super) fn new(view: &'v CeilingView, trusts: bool) -> Self {
        Holders {
            trusts,
            jobs: vec![(Sections::NONE, 0); view.levels.len()],
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
                self.jobs[n].0 = said.outermost(said.depth());
                self.take(n, |spans| !spans);
            }
            EventKind::Dispatch | EventKind::Leave => self.take(n, |_| true),
            EventKind::Complete | EventKind::Removed | EventKind::Wait => self.end(n),
            EventKind::Dropped if r.arg != 0 => self.end(n),
            EventKind::SectionRefused => self.bar(n, r.arg),
            EventKind::SectionExceeded if self.view.resources.get(r.arg as usize).is_some_and(|it| it.withdrawn) => {
                self.bar(n, r.arg);
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
    fn wanted(&self, n: usize) -> Option<u8> {
        let (word, held) = self.jobs[n];
        word.iter().nth(held)
    }

    /// The job has only so many of the outermost, and wants no more.
    fn keep(&mut self, n: usize, keeps: usize) {
        let (word, held) = self.jobs[n];
        for resource in word.iter().take(held).skip(keeps) {
            if let Some(owner) = self.owners.get_mut(usize::from(resource)).filter(|owner| **owner == Some(n)) {
                *owner = None;
            }
        }
        self.jobs[n] = (word.outermost(keeps), keeps.min(held));
    }

    /// The job does not have this resource, whatever it says, nor what lies inside.
    fn bar(&mut self, n: usize, resource: u64) {
        let at = self.jobs[n].0.iter().position(|it| u64::from(it) == resource);
        if let Some(at) = at {
            self.keep(n, at);
        }
    }

    fn end(&mut self, n: usize) {
        self.keep(n, 0);
        self.jobs[n] = (Sections::NONE, 0);
    }

    /// What the job has.
    pub(super) fn held(&self, n: usize) -> Sections {
        self.jobs[n].0.outermost(self.jobs[n].1)
    }

    /// The task whose job has what this one's waits for.
    fn awaited(&self, n: usize) -> Option<usize> {
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

/// A resource of several cores, as the check goes along.
#[derive(Default, Clone)]
struct Waiting {
    /// Who waits, in the order in which they came, and since when.
    tasks: Vec<(usize, Instant)>,
    /// Since when nobody has it.
    free: Instant,
}

/// No job runs in a section on what another one has. What cores share is given in the order in which it was asked for, and at once.
/// `tolerance`: how long it may take until a core acts upon what it should.
pub(super) fn of_view(view: &View, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let Some(ceilings) = view.tree.as_ref().and_then(|tree| tree.ceilings.as_ref()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut holders = Holders::new(ceilings, false);
    let mut waiting = vec![Waiting::default(); ceilings.resources.len()];
    let wrong = |r: &Record, text: String| Violation {
        rule: Rule::Exclusion,
        time: r.time,
        core: r.core,
        task: r.task,
        job: r.task.map(|_| r.job),
        text,
    };
    in_order(trace, |r| {
        let Some(n) = r.task.map(TaskId::index).filter(|n| *n < ceilings.levels.len()) else { return };
        let before = holders.owners.clone();
        holders.step(r);
        if matches!(r.kind, EventKind::Dispatch | EventKind::Leave) {
            if let Some(other) = holders.awaited(n) {
                found.push(wrong(r, format!("runs while it waits for what task {other} holds")));
            }
        }
        for (resource, now) in holders.owners.iter().enumerate().filter(|(resource, _)| ceilings.spans(*resource)) {
            let it = &mut waiting[resource];
            let asks = holders.wanted(n) == Some(resource as u8);
            if asks && !it.tasks.iter().any(|(task, _)| *task == n) {
                it.tasks.push((n, r.time));
            } else if !asks && *now != Some(n) {
                it.tasks.retain(|(task, _)| *task != n);
            }
            if *now == before[resource] {
                continue;
            }
            match now {
                None => it.free = r.time,
                Some(owner) => {
                    let (place, since) =
                        it.tasks.iter().position(|it| it.0 == *owner).map_or((0, r.time), |at| (at, it.tasks[at].1));
                    if let Some((first, _)) = it.tasks.first().filter(|_| place > 0) {
                        found
                            .push(wrong(r, format!("has resource {resource} before task {first}, which came earlier")));
                    }
                    let late = r.time.since(it.free.max(since));
                    if late > tolerance {
                        found.push(wrong(r, format!("has resource {resource} {late} after it was free")));
                    }
                    it.tasks.retain(|(task, _)| task != owner);
                }
            }
        }
    });
    let end = run_end(trace);
    for (resource, it) in waiting.iter().enumerate().filter(|(resource, _)| holders.owners[*resource].is_none()) {
        if let Some((task, since)) = it.tasks.first().filter(|(_, since)| end.since(it.free.max(*since)) > tolerance) {
            found.push(Violation {
                rule: Rule::Exclusion,
                time: *since,
                core: CoreId(0),
                task: Some(TaskId(*task as u16)),
                job: None,
                text: format!("never has resource {resource}, which is free"),
            });
        }
    }
    found
}
