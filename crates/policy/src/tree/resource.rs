//! Ceilings: levels up to which no job may begin on a core, since a job that has begun there keeps it.
//!
//! A job with a **preemption threshold** holds its threshold as a ceiling from its first dispatch to its end (Wang and Saksena,
//! "Scheduling fixed-priority tasks with preemption threshold", RTCSA 1999).
//!
//! Tasks of a queue have preemption levels, distinct and in the order of their urgency. Only the first entry of a queue is
//! tested: if it has not begun and its level is not above all ceilings held there, the job that began last goes on instead
//! (Baker, "Stack-based scheduling of realtime processes", Real-Time Systems 3, 1991). Whoever is behind the first one waits for
//! it, or a later job would run whole before an earlier one that is blocked.

use super::domain::Domain;
use super::{TaskOrder, Tree};
use crate::codec::{put, DecodeError, Input, Parameters};
use crate::{PolicyConfig, PolicyConfigError};
use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_time::TaskId;

/// A tree in which jobs keep their cores from others. It has no servers, and no two cores share a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResourceTree {
    /// The root and the tasks.
    pub tree: Tree,
    /// For each task, in their order, the priority up to which nobody takes the core from its jobs once they have begun.
    pub thresholds: Vec<Option<u32>>,
}

/// The ceilings of one core.
#[derive(Debug)]
pub(super) struct Ceilings {
    /// By the task's index in the domain.
    tasks: Vec<TaskCeiling>,
    /// The tasks with a job that has begun and is not finished, in the order in which they began.
    begun: Vec<usize>,
}

#[derive(Clone, Debug)]
struct TaskCeiling {
    /// Its preemption level, from 1 on; the larger is the more urgent.
    level: u32,
    /// The ceiling that its jobs hold from their first dispatch on; 0 is none.
    threshold: u32,
}

impl Ceilings {
    /// Who runs where the task `first` is the first of its queue.
    pub(super) fn choose(&self, first: usize) -> usize {
        let Some(last) = self.begun.last() else { return first };
        if *last == first || self.begun.contains(&first) || self.tasks[first].level > self.held() {
            return first;
        }
        *last
    }

    /// The highest ceiling that is held.
    fn held(&self) -> u32 {
        self.begun.iter().map(|place| self.tasks[*place].threshold).max().unwrap_or(0)
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
    let tasks = (0..count).map(|place| TaskCeiling {
        level: (0..count).filter(|other| key(*other) >= key(place)).count() as u32,
        threshold: all.thresholds[number(place)].map_or(0, |threshold| {
            (0..count).filter(|other| all.tree.places[number(*other)].priority <= threshold).count() as u32
        }),
    });
    let ceilings = Ceilings { tasks: tasks.collect(), begun: Vec::with_capacity(count) };
    domain.ceilings = Some(Box::new(ceilings));
}

impl Parameters for ResourceTree {
    fn encode(&self, out: &mut Vec<u8>) {
        self.tree.encode(out);
        put(out, self.thresholds.len() as u64);
        for threshold in &self.thresholds {
            out.extend(threshold.unwrap_or(u32::MAX).to_le_bytes());
        }
    }

    fn decode(input: &mut Input) -> Result<ResourceTree, DecodeError> {
        let tree = Tree::decode(input)?;
        let threshold = |input: &mut Input| Ok(Some(u32::from_le_bytes(input.take()?)).filter(|it| *it != u32::MAX));
        Ok(ResourceTree { tree, thresholds: input.list(4, threshold)? })
    }
}
