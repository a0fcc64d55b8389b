//! Shared resources: how long a task waits for others' critical sections, by protocol.
//!
//! On one core: [`inheritance`] (PIP) and [`ceiling`] (PCP, SRP). On many, with tasks bound to cores and jobs that spin
//! while they wait: [`msrp`] (each request at its worst), [`fmlp`] (all requests of a job together) and [`mrsp`] (preemptible
//! waiting with helping). Each turns requests into a blocking term B and longer execution times, and hands these to
//! response-time analysis. Assumed by all: critical sections are not nested, a job's execution time C holds the lengths
//! of its own sections, jobs do not suspend themselves.

pub mod ceiling;
pub mod fmlp;
pub mod inheritance;
pub mod mrsp;
pub mod msrp;

use crate::effort::Effort;
use crate::task::{Dedicated, Sporadic};
use crate::uniprocessor::fixed_priority;
use std::collections::BTreeMap;
use tactus_time::Duration;

/// The critical sections of a job on one resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Which resource; any number that all tasks use for it.
    pub resource: usize,
    /// The longest section.
    pub length: Duration,
    /// How many sections a job has on it at most.
    pub count: u64,
}

/// A task with its critical sections. The place in a list is its priority, the most urgent first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sharing {
    /// C includes the task's own sections.
    pub task: Sporadic,
    /// The core it is bound to; the same for all on one core.
    pub core: usize,
    /// At most one entry per resource.
    pub requests: Vec<Request>,
}

/// The sections of all tasks by resource and core, looked up once for all requests.
pub struct Sections<'t> {
    tasks: &'t [Sharing],
    /// By resource, the cores on which somebody has sections on it.
    by_resource: BTreeMap<usize, Vec<OnCore>>,
}

/// The sections on one resource of the tasks of one core.
struct OnCore {
    core: usize,
    /// The most urgent task that has one.
    first: usize,
    /// The longest first.
    all: Vec<Section>,
}

/// The sections of a task on a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Section {
    length: Duration,
    /// How many a job has.
    count: u64,
    task: usize,
}

impl OnCore {
    fn longest(&self) -> Duration {
        self.all.first().map_or(Duration::ZERO, |section| section.length)
    }
}

impl<'t> Sections<'t> {
    /// Those of these tasks.
    pub fn of(tasks: &'t [Sharing]) -> Sections<'t> {
        let mut by_resource: BTreeMap<usize, Vec<OnCore>> = BTreeMap::new();
        for (task, sharing) in tasks.iter().enumerate() {
            for request in sharing.requests.iter().filter(|request| request.count > 0) {
                let cores = by_resource.entry(request.resource).or_default();
                let section = Section { length: request.length, count: request.count, task };
                match cores.iter_mut().find(|it| it.core == sharing.core) {
                    Some(here) => here.all.push(section),
                    None => cores.push(OnCore { core: sharing.core, first: task, all: vec![section] }),
                }
            }
        }
        by_resource.values_mut().flatten().for_each(|it| it.all.sort_unstable_by(|a, b| b.cmp(a)));
        Sections { tasks, by_resource }
    }

    fn on(&self, resource: usize) -> &[OnCore] {
        self.by_resource.get(&resource).map_or(&[], Vec::as_slice)
    }

    /// Whether tasks of more than one core use the resource.
    fn is_global(&self, resource: usize) -> bool {
        self.on(resource).len() > 1
    }

    /// The sections on the resource of each core but `core` that has some.
    fn elsewhere(&self, core: usize, resource: usize) -> impl Iterator<Item = &OnCore> {
        self.on(resource).iter().filter(move |it| it.core != core)
    }

    /// Whether somebody on task i's core that is at least as urgent as task i uses the resource: its ceiling reaches i.
    fn ceiling_reaches(&self, i: usize, resource: usize) -> bool {
        self.on(resource).iter().any(|it| it.core == self.tasks[i].core && it.first <= i)
    }

    /// The less urgent tasks on task i's core.
    fn below(&self, i: usize) -> impl Iterator<Item = &'t Sharing> {
        let core = self.tasks[i].core;
        self.tasks[i + 1..].iter().filter(move |s| s.core == core)
    }
}

/// Response times with blocking terms and inflated tasks, each beneath the more urgent ones of its core.
fn responses_with(
    tasks: &[Sharing],
    inflated: &[Sporadic],
    blocking: impl Fn(usize) -> Duration,
    effort: &mut Effort,
) -> Vec<Option<Duration>> {
    let one = |i: usize| {
        let here = (0..i).filter(|&j| tasks[j].core == tasks[i].core);
        let higher: Vec<Sporadic> = here.map(|j| inflated[j]).collect();
        fixed_priority::response(&inflated[i], &higher, blocking(i), &Dedicated, effort)
    };
    (0..tasks.len()).map(one).collect()
}
