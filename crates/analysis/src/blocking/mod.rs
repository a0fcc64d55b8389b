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

impl Sharing {
    fn on(&self, resource: usize) -> impl Iterator<Item = &Request> {
        self.requests.iter().filter(move |r| r.resource == resource && r.count > 0)
    }
    /// The longest section on the resource; zero if there is none.
    fn longest(&self, resource: usize) -> Duration {
        self.on(resource).map(|r| r.length).max().unwrap_or(Duration::ZERO)
    }
    fn uses(&self, resource: usize) -> bool {
        self.on(resource).next().is_some()
    }
}

/// Whether tasks of more than one core use the resource.
fn is_global(tasks: &[Sharing], resource: usize) -> bool {
    let mut cores = tasks.iter().filter(|s| s.uses(resource)).map(|s| s.core);
    let first = cores.next();
    cores.any(|c| Some(c) != first)
}

/// The longest section on the resource by a task of each core but `core`.
fn longest_elsewhere(tasks: &[Sharing], core: usize, resource: usize) -> Vec<Duration> {
    let mut cores: Vec<usize> = tasks.iter().map(|s| s.core).filter(|c| *c != core).collect();
    cores.sort_unstable();
    cores.dedup();
    let of_core = |c: &usize| {
        let here = tasks.iter().filter(|s| s.core == *c);
        here.map(|s| s.longest(resource)).max().unwrap_or(Duration::ZERO)
    };
    cores.iter().map(of_core).filter(|l| !l.is_zero()).collect()
}

/// Whether somebody on task i's core that is at least as urgent as task i uses the resource: its ceiling reaches i.
fn ceiling_reaches(tasks: &[Sharing], i: usize, resource: usize) -> bool {
    tasks[..=i].iter().any(|s| s.core == tasks[i].core && s.uses(resource))
}

/// The less urgent tasks on task i's core.
fn below(tasks: &[Sharing], i: usize) -> impl Iterator<Item = &Sharing> {
    tasks[i + 1..].iter().filter(move |s| s.core == tasks[i].core)
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
