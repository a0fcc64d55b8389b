//! Ceilings: levels up to which no job may begin on a core, since a job that has begun there keeps it.
//!
//! A job with a **preemption threshold** holds its threshold as a ceiling from its first dispatch to its end (Wang and Saksena,
//! "Scheduling fixed-priority tasks with preemption threshold", RTCSA 1999). A job in a **critical section** holds that of the
//! resource: the highest level of all that use it, or one above all.
//!
//! Tasks of a queue have preemption levels, distinct and in the order of their urgency. Only the first entry of a queue is
//! tested: if it has not begun and its level is not above all ceilings held there, the job that began last goes on instead
//! (Baker, "Stack-based scheduling of realtime processes", Real-Time Systems 3, 1991). Whoever is behind the first one waits for
//! it, or a later job would run whole before an earlier one that is blocked.

use super::domain::Domain;
use super::parameters::{Resource, ResourceTree, ResourceUser};
use crate::records::Recorder;
use crate::{PolicyConfig, PolicyConfigError};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::EventKind;
use tactus_task::{Overrun, ResourceProtocol, Sections, TaskOrder};
use tactus_time::{Duration, Instant, TaskId};

/// The ceilings of one core.
#[derive(Debug)]
pub(super) struct Ceilings {
    /// By the task's index in the domain.
    tasks: Vec<TaskCeiling>,
    /// The tasks with a job that has begun and is not finished, in the order in which they began.
    begun: Vec<usize>,
    /// By resource: the level up to which nobody begins while it is held; 0 if nobody here uses it.
    resources: Vec<u32>,
}

#[derive(Clone, Debug)]
struct TaskCeiling {
    /// Its preemption level, from 1 on; the larger is the more urgent.
    level: u32,
    /// The ceiling that its jobs hold from their first dispatch on; 0 is none.
    threshold: u32,
    /// By resource: for how long it may be held.
    longest: Vec<Duration>,
    /// What its oldest job holds, and what that had been charged when it entered each section.
    held: Sections,
    entered: [Duration; Sections::DEEPEST],
    /// Of which sections, the outermost first, it is recorded that they are too long.
    exceeded: [bool; Sections::DEEPEST],
}

impl Ceilings {
    /// Who runs where the task `first` is the first of its queue.
    pub(super) fn choose(&self, first: usize) -> usize {
        let Some(last) = self.begun.last() else { return first };
        if *last == first || self.begun.contains(&first) || self.tasks[first].level > self.highest() {
            return first;
        }
        *last
    }

    /// The highest ceiling that is held.
    fn highest(&self) -> u32 {
        let of_resource = |resource: u8| self.resources.get(usize::from(resource)).copied().unwrap_or(0);
        let of_task = |place: &usize| {
            let task = &self.tasks[*place];
            task.held.iter().map(of_resource).max().unwrap_or(0).max(task.threshold)
        };
        self.begun.iter().map(of_task).max().unwrap_or(0)
    }

    /// A job of the task is given the core.
    pub(super) fn begin(&mut self, place: usize) {
        if !self.begun.contains(&place) {
            self.begun.push(place);
        }
    }

    /// The task's job ended, or stops.
    pub(super) fn end(&mut self, place: usize) {
        self.begun.retain(|begun| *begun != place);
        self.tasks[place].held = Sections::NONE;
    }

    /// Whether the task's job holds a resource.
    pub(super) fn holds(&self, place: usize) -> bool {
        self.tasks[place].held != Sections::NONE
    }

    /// The task's job holds these resources now, the innermost since it had been charged so much.
    fn hold(&mut self, place: usize, held: Sections, charged: Duration) {
        let task = &mut self.tasks[place];
        let same = task.held.iter().zip(held.iter()).take_while(|(before, now)| before == now).count();
        task.held = held.outermost(held.depth());
        task.entered[same..].fill(charged);
        task.exceeded[same..].fill(false);
    }

    /// The section of the task's job, which was charged so much, that will be too long first and has not been found so: how much more
    /// it may be charged until then, and which it is, from the outermost on.
    fn until_exceeded(&self, place: usize, charged: Duration) -> Option<(Duration, usize)> {
        let task = &self.tasks[place];
        let rest = |(n, resource): (usize, u8)| {
            let longest = task.longest.get(usize::from(resource)).copied().unwrap_or(Duration::ZERO);
            (longest.saturating_sub(charged.saturating_sub(task.entered[n])), n)
        };
        task.held.iter().enumerate().filter(|(n, _)| !task.exceeded[*n]).map(rest).min()
    }
}

impl Domain {
    /// The running job holds these resources now, the innermost since `since`.
    pub(super) fn enter_sections(&mut self, held: Sections, since: Instant) {
        let (Some(ceilings), Some(place)) = (&mut self.ceilings, self.core_states[0].running()) else { return };
        let ran = since.max(self.core_states[0].since).since(self.core_states[0].since);
        let charged = self.tasks[place].charged.checked_add(ran).unwrap_or(Duration::MAX);
        ceilings.hold(place, held, charged);
    }

    /// Whether a section of the running job keeps another from the core.
    pub(super) fn awaits_unlock(&self) -> bool {
        let (Some(ceilings), Some(place)) = (&self.ceilings, self.core_states[0].running()) else { return false };
        let first = self.queues.peek(self.tasks[place].queue);
        ceilings.tasks[place].held != Sections::NONE && first.is_some_and(|first| first.place() != place)
    }

    /// When a section of the running job is too long, if it keeps another from the core.
    pub(super) fn section_ends(&self, now: Instant) -> Instant {
        if !self.awaits_unlock() {
            return Instant::NEVER;
        }
        let running = self.ceilings.as_ref().zip(self.core_states[0].running());
        let rest = running.and_then(|(ceilings, place)| ceilings.until_exceeded(place, self.tasks[place].charged));
        rest.map_or(Instant::NEVER, |(rest, _)| now.saturating_add(rest))
    }

    /// Records the sections of the task's job that are too long and that have not been found so.
    pub(super) fn find_exceeded(&mut self, place: usize, records: &mut Recorder) {
        let Some(ceilings) = &mut self.ceilings else { return };
        let (name, job, charged) = (self.tasks[place].name, self.tasks[place].job, self.tasks[place].charged);
        while let Some((_, n)) = ceilings.until_exceeded(place, charged).filter(|(rest, _)| rest.is_zero()) {
            let task = &mut ceilings.tasks[place];
            let resource = task.held.iter().nth(n).unwrap_or_default();
            records.job(EventKind::SectionExceeded, name, job, u64::from(resource));
            task.exceeded[n] = true;
        }
    }
}

/// Finds the first thing that is wrong with it.
pub(super) fn check(setup: &PolicyConfig, all: &ResourceTree) -> Result<(), PolicyConfigError> {
    let shared = all.tree.servers.iter().flat_map(|server| &server.queues).any(|queue| queue.iter().nth(1).is_some());
    let ordered = all.tree.servers.iter().all(|server| {
        matches!(
            server.order,
            TaskOrder::FixedPriority
                | TaskOrder::RateMonotonic
                | TaskOrder::DeadlineMonotonic
                | TaskOrder::EarliestDeadline
        )
    });
    if shared || !ordered || all.tree.servers.len() > 1 {
        return Err(PolicyConfigError::CeilingTree);
    }
    if all.thresholds.len() != setup.tasks.len() {
        return Err(PolicyConfigError::PlaceCount(all.thresholds.len()));
    }
    if all.resources.len() > Sections::MAX_RESOURCES {
        return Err(PolicyConfigError::ResourceCount(all.resources.len()));
    }
    for (n, resource) in all.resources.iter().enumerate() {
        let core = |user: &ResourceUser| setup.tasks.get(user.task.index()).map(|task| task.core);
        let stops = |user: &ResourceUser| {
            let place = all.tree.places.get(user.task.index());
            place.is_none_or(|place| matches!(place.overrun, Overrun::Stop | Overrun::Kill))
        };
        let first = resource.users.first().and_then(core);
        let wrong = |(i, user): (usize, &ResourceUser)| {
            let twice = resource.users[..i].iter().any(|other| other.task == user.task);
            twice || stops(user) || core(user) != first
        };
        if resource.users.iter().enumerate().any(wrong) {
            return Err(PolicyConfigError::ResourceUser(n));
        }
    }
    let below = |n: &usize| all.thresholds[*n].is_some_and(|threshold| threshold < all.tree.places[*n].priority);
    let by_priority = all.tree.servers.iter().all(|server| server.order == TaskOrder::FixedPriority);
    let wrong = |n: &usize| below(n) || (all.thresholds[*n].is_some() && !by_priority);
    (0..setup.tasks.len()).find(wrong).map_or(Ok(()), |n| Err(PolicyConfigError::Threshold(TaskId(n as u16))))
}

/// Gives the domain its ceilings.
pub(super) fn attach(domain: &mut Domain, setup: &PolicyConfig, all: &ResourceTree) {
    let number = |place: usize| domain.tasks[place].name.0.index();
    let order = all.tree.servers.first().map_or(TaskOrder::FixedPriority, |root| root.order);
    // Less is more urgent; among equals the first.
    let key = |place: usize| {
        let (n, task) = (number(place), &setup.tasks[number(place)]);
        let key = match order {
            TaskOrder::FixedPriority => u64::from(u32::MAX - all.tree.places[n].priority),
            TaskOrder::RateMonotonic => task.period.as_nanos(),
            _ => task.deadline.as_nanos(),
        };
        (key, place)
    };
    let count = domain.tasks.len();
    let longest = |place: usize, resource: &Resource| {
        let user = resource.users.iter().find(|user| user.task.index() == number(place));
        user.map_or(Duration::ZERO, |user| user.longest)
    };
    let tasks = (0..count).map(|place| TaskCeiling {
        level: (0..count).filter(|other| key(*other) >= key(place)).count() as u32,
        threshold: all.thresholds[number(place)].map_or(0, |threshold| {
            (0..count).filter(|other| all.tree.places[number(*other)].priority <= threshold).count() as u32
        }),
        longest: all.resources.iter().map(|resource| longest(place, resource)).collect(),
        held: Sections::NONE,
        entered: [Duration::ZERO; Sections::DEEPEST],
        exceeded: [false; Sections::DEEPEST],
    });
    let tasks: Vec<TaskCeiling> = tasks.collect();
    let ceiling = |resource: &Resource| {
        let users = (0..count).filter(|place| resource.users.iter().any(|user| user.task.index() == number(*place)));
        let highest = users.map(|place| tasks[place].level).max();
        highest.map_or(0, |highest| match resource.protocol {
            ResourceProtocol::NonPreemptive => count as u32,
            ResourceProtocol::Ceiling => highest,
        })
    };
    let resources = all.resources.iter().map(ceiling).collect();
    domain.ceilings = Some(Box::new(Ceilings { tasks, begun: Vec::with_capacity(count), resources }));
}
