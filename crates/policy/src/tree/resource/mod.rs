//! What jobs keep from others once they have begun: preemption thresholds, and the resources that they hold or wait for.
//!
//! **Ceilings** are levels up to which no job may begin on a core. A job with a preemption threshold holds its threshold as a ceiling
//! from its first dispatch to its end (Wang and Saksena, "Scheduling fixed-priority tasks with preemption threshold", RTCSA 1999). A
//! job in a critical section holds that of the resource: the highest level of all that use it, or one above all.
//!
//! Tasks of a queue have preemption levels, distinct and in the order of their urgency. Only the first entry of a queue is
//! tested: if it has not begun and its level is not above all ceilings held there, the job that began last goes on instead
//! (Baker, "Stack-based scheduling of realtime processes", Real-Time Systems 3, 1991). Whoever is behind the first one waits for
//! it, or a later job would run whole before an earlier one that is blocked.
//!
//! **Inheritance.** A job that wants what another one holds stays in its queue, and when it is the first there, the holder runs in its
//! place. A resource that is given back is free: the first one that is given the core and wants it has it. So those that wait
//! compete again, and a less urgent task blocks a job for one section at most (Sha, Rajkumar and Lehoczky 1990).
//!
//! **Resources of several cores** are given in the order in which they are asked for; a job that waits for one keeps its core
//! ([`shared`]).
//!
//! Resources are taken in one order. A job that wants one that its task does not declare, or in another order, does not get it: so
//! those who wait for each other never form a circle.

mod setup;
mod shared;

use super::domain::Domain;
use crate::records::Recorder;
use crate::ResourceSet;
use alloc::vec::Vec;
pub(super) use setup::{attach, check};
pub(super) use shared::{of_setup, SharedResources};
use tactus_record::EventKind;
use tactus_task::Sections;
use tactus_time::{CoreId, CoreSet, Duration, Instant};

/// The resources of one core.
#[derive(Debug)]
pub(super) struct Resources {
    /// By the task's index in the domain.
    tasks: Vec<TaskResources>,
    /// The tasks with a job that has begun and is not finished, in the order in which they began.
    begun: Vec<usize>,
    resources: Vec<ResourceState>,
    /// Those that are held by inheritance, and those of several cores.
    taken: ResourceSet,
    /// The task whose job waits for a resource of several cores: nobody else runs until it has that.
    spins: Option<usize>,
    /// The resources of several cores that were given back, or are wanted no more, and of which the others were not told.
    returned: Vec<u8>,
}

#[derive(Debug)]
struct ResourceState {
    /// The level up to which nobody begins while it is held; 0 if nobody is kept off.
    ceiling: u32,
    order: u16,
    withdrawn: bool,
    access: Access,
}

/// Whether a job may find a resource taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    /// Never: whoever might want it does not begin.
    Free,
    /// By a job of the same core, which then runs in its place: the task whose job holds it.
    Inherits(Option<usize>),
    /// By a job of any core.
    Spans,
}

#[derive(Clone, Debug)]
struct TaskResources {
    /// Its preemption level, from 1 on; the larger is the more urgent.
    level: u32,
    /// The ceiling that its jobs hold from their first dispatch on; 0 is none.
    threshold: u32,
    /// By resource: for how long it may be held; nothing if the task does not use it.
    longest: Vec<Option<Duration>>,
    /// What its oldest job says that it holds, what of that it holds, and which comes next and is another's yet.
    word: Sections,
    held: Sections,
    wants: Option<u8>,
    /// Of what it says, only so many of the outermost count until it holds no more than that; the rest was refused or withdrawn.
    barred: usize,
    /// What was refused and has not been recorded.
    refused: Option<u8>,
    /// What it had been charged when it entered each section.
    entered: [Duration; Sections::DEEPEST],
    /// Of which sections, the outermost first, it is recorded that they are too long.
    exceeded: [bool; Sections::DEEPEST],
}

impl Resources {
    /// Who runs where the task `first` is the first of its queue; nobody while a job keeps the core and waits.
    pub(super) fn choose(&self, first: usize) -> Option<usize> {
        if self.spins.is_some() {
            return None;
        }
        let Some(last) = self.begun.last() else { return Some(first) };
        let free = *last == first || self.begun.contains(&first) || self.tasks[first].level > self.highest();
        let mut runs = if free { first } else { *last };
        // Each wants a resource that comes later in the order than the one before, so that this ends.
        while let Some(holder) = self.holder(runs) {
            runs = holder;
        }
        Some(runs)
    }

    /// Whether no job that has begun holds a resource, wants one, or has been refused one.
    pub(super) fn are_free(&self) -> bool {
        let free = |place: &usize| {
            let task = &self.tasks[*place];
            (task.word, task.held) == (Sections::NONE, Sections::NONE) && task.wants.is_none() && task.refused.is_none()
        };
        self.spins.is_none() && self.returned.is_empty() && self.begun.iter().all(free)
    }

    /// The task whose job holds what this one's wants.
    fn holder(&self, place: usize) -> Option<usize> {
        match self.resources.get(usize::from(self.tasks[place].wants?))?.access {
            Access::Inherits(owner) => owner.filter(|owner| *owner != place),
            Access::Free | Access::Spans => None,
        }
    }

    /// The highest ceiling that is held.
    fn highest(&self) -> u32 {
        let of_resource = |resource: u8| self.resources.get(usize::from(resource)).map_or(0, |it| it.ceiling);
        let of_task = |place: &usize| {
            let task = &self.tasks[*place];
            task.held.iter().map(of_resource).max().unwrap_or(0).max(task.threshold)
        };
        self.begun.iter().map(of_task).max().unwrap_or(0)
    }

    /// A job of the task, which was charged so much, is given the core, and with it what it wanted and is free.
    pub(super) fn begin(&mut self, place: usize, charged: Duration) {
        if !self.begun.contains(&place) {
            self.begun.push(place);
        }
        if self.tasks[place].wants.is_some() {
            self.acquire(place, charged);
        }
    }

    /// The task's job ended, or stops.
    pub(super) fn end(&mut self, place: usize) {
        self.begun.retain(|begun| *begun != place);
        self.give_back(place, 0);
        self.tasks[place].word = Sections::NONE;
        self.tasks[place].barred = Sections::DEEPEST;
    }

    /// Whether the task's job holds a resource.
    pub(super) fn holds(&self, place: usize) -> bool {
        self.tasks[place].held != Sections::NONE
    }

    /// The task's job says that it holds these now, the innermost since it had been charged so much.
    fn hold(&mut self, place: usize, word: Sections, charged: Duration) {
        let task = &mut self.tasks[place];
        task.word = word.outermost(word.depth());
        if task.word.depth() <= task.barred {
            task.barred = Sections::DEEPEST;
        }
        let same = task.held.iter().zip(word.iter()).take_while(|(before, now)| before == now).count();
        self.give_back(place, same);
        self.acquire(place, charged);
    }

    /// The task's job keeps only so many of the outermost that it holds, and waits for none.
    fn give_back(&mut self, place: usize, keeps: usize) {
        let task = &mut self.tasks[place];
        let wanted = task.wants.take();
        let gone = task.held.iter().skip(keeps).chain(wanted);
        for resource in gone {
            match self.resources.get_mut(usize::from(resource)).map(|it| &mut it.access) {
                Some(Access::Inherits(owner)) if *owner == Some(place) => {
                    *owner = None;
                    self.taken.remove(resource);
                }
                Some(Access::Spans) => self.returned.push(resource),
                _ => {}
            }
        }
        task.held = task.held.outermost(keeps);
        if self.spins == Some(place) {
            self.spins = None;
        }
    }

    /// The task's job, which was charged so much, takes what it says that it holds, as far as that is free.
    fn acquire(&mut self, place: usize, charged: Duration) {
        loop {
            let task = &mut self.tasks[place];
            task.wants = None;
            let depth = task.held.depth();
            let Some(next) = task.word.iter().nth(depth).filter(|_| depth < task.barred) else { return };
            let known = |resource: u8| self.resources.get(usize::from(resource));
            let declared = task.longest.get(usize::from(next)).copied().flatten().is_some();
            let Some(it) =
                known(next).filter(|it| declared && task.held.iter().filter_map(known).all(|held| it.inside(held)))
            else {
                (task.barred, task.refused) = (depth, Some(next));
                return;
            };
            match it.access {
                Access::Free => {}
                Access::Inherits(Some(owner)) if owner != place => {
                    task.wants = Some(next);
                    return;
                }
                Access::Inherits(_) => {
                    self.resources[usize::from(next)].access = Access::Inherits(Some(place));
                    self.taken.insert(next);
                }
                Access::Spans => {
                    (task.wants, self.spins) = (Some(next), Some(place));
                    return;
                }
            }
            self.take(place, next, charged);
        }
    }

    /// The task's job, which was charged so much, has the resource from now on.
    fn take(&mut self, place: usize, resource: u8, charged: Duration) {
        let task = &mut self.tasks[place];
        let depth = task.held.depth();
        if let Some(held) = task.held.enter(resource) {
            (task.held, task.wants) = (held, None);
            (task.entered[depth], task.exceeded[depth]) = (charged, false);
        }
    }

    /// Gives the job of `next`, which was charged so much and is not in any other section, what it waits for, if that is all that the
    /// job of `leaver` holds. Whether it was so; else nothing has changed.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, leaver: usize, next: usize, charged: Duration) -> bool {
        let Some(wanted) = self.tasks[next].wants else { return false };
        let only = Sections::from_bits(u32::from(wanted) + 1);
        let (left, waits) = (&self.tasks[leaver], &self.tasks[next]);
        let Some(resource) = self.resources.get_mut(usize::from(wanted)) else { return false };
        let usual = left.held == only && left.wants.is_none() && left.refused.is_none();
        if !usual
            || (waits.held, waits.word) != (Sections::NONE, only)
            || resource.access != Access::Inherits(Some(leaver))
            || self.spins.is_some()
            || !self.returned.is_empty()
        {
            return false;
        }
        resource.access = Access::Inherits(Some(next));
        let left = &mut self.tasks[leaver];
        (left.word, left.held, left.barred) = (Sections::NONE, Sections::NONE, Sections::DEEPEST);
        let takes = &mut self.tasks[next];
        (takes.held, takes.wants) = (only, None);
        (takes.entered[0], takes.exceeded[0]) = (charged, false);
        true
    }

    /// The section of the task's job, which was charged so much, that will be too long first and has not been found so: how much more
    /// it may be charged until then, and which it is, from the outermost on.
    fn until_exceeded(&self, place: usize, charged: Duration) -> Option<(Duration, usize)> {
        let task = &self.tasks[place];
        let rest = |(n, resource): (usize, u8)| {
            let longest = task.longest.get(usize::from(resource)).copied().flatten().unwrap_or(Duration::ZERO);
            (longest.saturating_sub(charged.saturating_sub(task.entered[n])), n)
        };
        task.held.iter().enumerate().filter(|(n, _)| !task.exceeded[*n]).map(rest).min()
    }

    /// Whether the task's job holds a resource of several cores.
    fn holds_shared(&self, place: usize) -> bool {
        self.tasks[place].held.iter().any(|resource| self.spans(resource))
    }

    fn spans(&self, resource: u8) -> bool {
        self.resources.get(usize::from(resource)).is_some_and(|it| it.access == Access::Spans)
    }
}

impl ResourceState {
    /// Whether it may be taken inside the other one.
    fn inside(&self, other: &ResourceState) -> bool {
        self.order > other.order && self.access != Access::Spans && other.access != Access::Spans
    }
}

impl Domain {
    /// The running job holds these resources now, the innermost since `since`.
    pub(super) fn enter_sections(&mut self, held: Sections, since: Instant) {
        let (Some(resources), Some(place)) = (&mut self.resources, self.core_states[0].running()) else { return };
        let ran = since.max(self.core_states[0].since).since(self.core_states[0].since);
        let charged = self.tasks[place].charged.checked_add(ran).unwrap_or(Duration::MAX);
        resources.hold(place, held, charged);
    }

    /// Whether a section of the running job keeps another from the core, or may keep another core waiting.
    pub(super) fn awaits_unlock(&self) -> bool {
        let (Some(resources), Some(place)) = (&self.resources, self.core_states[0].running()) else { return false };
        if !resources.holds(place) {
            return false;
        }
        let first = self.queues.peek(self.tasks[place].queue);
        first.is_some_and(|first| first.place() != place) || resources.holds_shared(place)
    }

    /// The resources before whose sections the running job must call.
    pub(super) fn locked(&self) -> ResourceSet {
        let (Some(resources), Some(place)) = (&self.resources, self.core_states[0].running()) else {
            return ResourceSet::default();
        };
        let mut locked = resources.taken;
        let own = resources.tasks[place].held.iter().filter(|resource| !resources.spans(*resource));
        own.for_each(|resource| locked.remove(resource));
        locked
    }

    /// When a section of the running job is too long, if it keeps others waiting.
    pub(super) fn section_ends(&self, now: Instant) -> Instant {
        if !self.awaits_unlock() {
            return Instant::NEVER;
        }
        let running = self.resources.as_ref().zip(self.core_states[0].running());
        let rest = running.and_then(|(resources, place)| resources.until_exceeded(place, self.tasks[place].charged));
        rest.map_or(Instant::NEVER, |(rest, _)| now.saturating_add(rest))
    }

    /// Records what the task's job wanted and does not get, and its sections that are too long and that have not been found so. What
    /// is withdrawn then, it has no longer.
    pub(super) fn find_exceeded(&mut self, place: usize, records: &mut Recorder) {
        let Some(resources) = &mut self.resources else { return };
        let (subject, job, charged) = (self.tasks[place].subject, self.tasks[place].job, self.tasks[place].charged);
        if let Some(refused) = resources.tasks[place].refused.take() {
            // Behind what it holds, which may be the same one.
            let depth = resources.tasks[place].barred as u64;
            records.about(EventKind::SectionRefused, subject, job, u64::from(refused) | depth << 8);
        }
        while let Some((_, n)) = resources.until_exceeded(place, charged).filter(|(rest, _)| rest.is_zero()) {
            let task = &mut resources.tasks[place];
            let resource = task.held.iter().nth(n).unwrap_or_default();
            records.about(EventKind::SectionExceeded, subject, job, u64::from(resource));
            task.exceeded[n] = true;
            if resources.resources.get(usize::from(resource)).is_some_and(|it| it.withdrawn) {
                task.barred = task.barred.min(n);
                resources.give_back(place, n);
            }
        }
    }

    /// Whether this entry concerns resources of several cores.
    pub(super) fn meets_others(&self) -> bool {
        let Some(resources) = &self.resources else { return false };
        let running = self.core_states[0].running();
        let holds = running.is_some_and(|place| resources.holds_shared(place));
        holds || resources.spins.is_some() || !resources.returned.is_empty()
    }

    /// Gives back what its job held of the resources of several cores, and asks for what it wants. Which cores have one now that was
    /// given back.
    pub(super) fn meet_others(&mut self, shared: &mut SharedResources, core: CoreId) -> CoreSet {
        let mut given = CoreSet::EMPTY;
        let Some(resources) = &mut self.resources else { return given };
        while let Some(resource) = resources.returned.pop() {
            shared.give_back(core, resource).into_iter().for_each(|next| given.insert(next));
        }
        if let Some(place) = resources.spins {
            let wanted = resources.tasks[place].wants;
            if let Some(resource) = wanted.filter(|resource| shared.request(core, *resource)) {
                resources.spins = None;
                resources.take(place, resource, self.tasks[place].charged);
            }
        }
        given
    }
}
