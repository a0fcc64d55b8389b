//! How tasks are ordered and what servers they are in: everything about scheduling beyond the kind of the policy.

use super::change::Change;
use super::partition::Partitions;
use super::resource::{Resource, Section};
use super::wait::Wait;
use std::collections::HashSet;
use tactus_task::{EventRule, Overrun, Program, Release, SampledEvent, ServerKind, TaskOrder};
use tactus_time::{CoreId, CoreSet, Duration};

/// How cores share the queue of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Migration {
    /// One queue for each core.
    Partitioned,
    /// One queue for each cluster of cores.
    Clustered,
    /// One queue for all cores.
    Global,
}

/// Where the schedulers of a system are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schedulers {
    /// `single`: one component schedules all.
    #[default]
    Single,
    /// `per-server`: the root and each server with something inside have a scheduler in a component of its own.
    PerServer,
}

/// Order, queues and servers of a system, as far as they are more than the kind of the policy tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scheduling {
    /// The length of a turn, or between two looks, at the root; zero where its order has none.
    pub quantum: Duration,
    /// The clusters of the root; empty unless the policy is clustered.
    pub clusters: Vec<CoreSet>,
    /// The servers; each comes after the one that it is inside of.
    pub servers: Vec<Server>,
    /// Partitions, which are the servers of such a system.
    pub partitions: Partitions,
    /// Whether servers share one scheduler. Both make the same schedule.
    pub schedulers: Schedulers,
    /// For each task where it is; empty if all are in the root, without priority, and go on when they overrun.
    pub places: Vec<TaskPlacement>,
    /// Changes of the running system, in the order in which they are asked for.
    pub changes: Vec<Change>,
    /// The resources, in file order.
    pub resources: Vec<Resource>,
    /// By task: the critical sections of each of its jobs, in file order; empty if no task has any.
    pub sections: Vec<Vec<Section>>,
    /// By task: the waits of each of its jobs, those that come earlier first; empty if no task has any.
    pub waits: Vec<Vec<Wait>>,
    /// What jobs signal and await.
    pub events: Vec<EventRule>,
    /// By task: what its jobs do in the middle of their work, where they signal and await events; empty if no task does.
    pub programs: Vec<Program>,
    /// By task: the most lines that a job asks memory for, where the file says; empty if it says so of none.
    pub misses: Vec<Option<u32>>,
    /// By task: the most changed lines that a job makes memory take back, where the file says; empty if it says so of none.
    pub write_backs: Vec<Option<u32>>,
    /// By task: how many accesses of a job find a line changed by another core, where the file says; empty if it says so of none. Only the
    /// simulator looks at this.
    pub hitm: Vec<Option<u32>>,
}

/// A server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// Name, unique.
    pub name: String,
    /// The server that it is inside of, by its place in [`Scheduling::servers`]; nothing for the root.
    pub parent: Option<usize>,
    /// The cores on which it has its budget, on each the whole.
    pub cores: CoreSet,
    /// What kind.
    pub kind: ServerKind,
    /// The budget.
    pub budget: Duration,
    /// The period.
    pub period: Duration,
    /// Of misses: how many changed lines it may make memory take back in each period, as the least time in which memory does so; nothing if
    /// as many as it likes.
    pub write_backs: Option<Duration>,
    /// How what is inside is ordered.
    pub order: TaskOrder,
    /// How its cores share queues.
    pub spread: Migration,
    /// The clusters; empty unless clustered.
    pub clusters: Vec<CoreSet>,
    /// The length of a turn, or between two looks; zero where its order has none.
    pub quantum: Duration,
    /// Larger goes first, where it is ordered by priority.
    pub priority: u32,
    /// Without budget it goes on behind all that have budget.
    pub background: bool,
    /// Line of the system file at which it begins.
    pub line: usize,
}

/// Where a task is, and what it may do there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TaskPlacement {
    /// Its server, by its place in [`Scheduling::servers`]; nothing for the root.
    pub server: Option<usize>,
    /// Larger goes first, where tasks are ordered by priority.
    pub priority: u32,
    /// From a job's first dispatch to its end only tasks of a larger priority than this take the core from it (Wang and Saksena,
    /// "Scheduling fixed-priority tasks with preemption threshold", RTCSA 1999); nothing if its own priority decides.
    pub threshold: Option<u32>,
    /// What happens when a job takes longer than it should.
    pub overrun: Overrun,
    /// Under EDF-VD, the virtual deadline of a critical task, where the file gives one.
    pub virtual_deadline: Option<Duration>,
    /// What releases its jobs.
    pub release: Release,
    /// The longest distance of two arrivals, where they come from outside; nothing if they come as close as they may, at
    /// distances of its period. Only the simulator looks at this.
    pub longest_distance: Option<Duration>,
    /// On the machine, the component that raises its arrivals, by its index in [`System::components`](crate::System::components).
    pub raised_by: Option<usize>,
    /// On the machine, the interrupt line whose device releases its jobs.
    pub interrupt: Option<u8>,
    /// On the machine, the buffer whose messages release its jobs, by its index in [`Platform::buffers`](crate::Platform::buffers);
    /// [`TaskPlacement::raised_by`] is who sends them.
    pub message: Option<usize>,
}

impl Scheduling {
    /// Whether the kind of the policy tells all, but for quantum and clusters.
    pub fn is_plain(&self) -> bool {
        self.servers.is_empty()
            && self.places.is_empty()
            && self.changes.is_empty()
            && self.sections.is_empty()
            && self.waits.is_empty()
            && self.events.is_empty()
    }

    /// How many schedulers the system has: the root's, and one of each server with a task inside where each has its own.
    pub fn scheduler_count(&self) -> usize {
        let above = |server: &usize| self.servers.get(*server)?.parent;
        let with_tasks = self.places.iter().flat_map(|place| std::iter::successors(place.server, above));
        match self.schedulers {
            Schedulers::Single => 1,
            Schedulers::PerServer => 1 + with_tasks.collect::<HashSet<usize>>().len(),
        }
    }

    /// The most lines that a job of the task asks memory for, where the file says.
    pub fn misses_of(&self, task: usize) -> Option<u32> {
        self.misses.get(task).copied().flatten()
    }

    /// The most changed lines that a job of the task makes memory take back, where the file says.
    pub fn write_backs_of(&self, task: usize) -> Option<u32> {
        self.write_backs.get(task).copied().flatten()
    }

    /// The server of best-effort work that gives way to a counter, on a core, and what is counted.
    pub fn yielding_on(&self, core: CoreId) -> Option<(usize, SampledEvent)> {
        let there = self.servers.iter().enumerate().filter(|(_, server)| server.cores.contains(core));
        there.filter_map(|(n, server)| Some((n, server.kind.sampled()?))).next()
    }

    /// How many events a job of the task makes its core's counter count, where work gives way to that, by what the file says.
    pub fn sampled_of(&self, task: usize, core: Option<CoreId>) -> u32 {
        let told = match self.yielding_on(core.unwrap_or_default()) {
            Some((_, SampledEvent::Changed)) => self.hitm.get(task).copied().flatten(),
            Some((_, SampledEvent::SharedMisses)) => self.misses_of(task),
            None => None,
        };
        told.unwrap_or(0)
    }

    /// The server with a budget of misses that the task is in.
    pub fn regulated_by(&self, task: usize) -> Option<usize> {
        let server = self.places.get(task)?.server?;
        (self.servers[server].kind == ServerKind::Misses).then_some(server)
    }

    /// The critical sections of the task's jobs.
    pub fn sections_of(&self, task: usize) -> &[Section] {
        self.sections.get(task).map_or(&[], Vec::as_slice)
    }

    /// All so many cores, in the sets that share queues of servers, directly or by others; a core that shares none by itself.
    pub fn sharing(&self, cores: usize) -> Vec<CoreSet> {
        let mut sets: Vec<CoreSet> = CoreSet::first(cores).iter().map(|core| CoreSet::from_bits(1 << core.0)).collect();
        for queue in self.servers.iter().flat_map(|it| self.queues(Some(it), it.spread, it.cores)) {
            let (with, without): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set.bits() & queue.bits() != 0);
            sets = without;
            sets.push(CoreSet::from_bits(with.iter().fold(0, |all, set| all | set.bits())));
        }
        sets.sort_unstable_by_key(|set| set.bits().trailing_zeros());
        sets
    }

    /// The queues of a server or, without one, of the root: each a set of cores. `all` are the root's cores.
    pub fn queues(&self, server: Option<&Server>, root: Migration, all: CoreSet) -> Vec<CoreSet> {
        let (spread, clusters, cores) = match server {
            Some(server) => (server.spread, &server.clusters, server.cores),
            None => (root, &self.clusters, all),
        };
        match spread {
            Migration::Partitioned => cores.iter().map(|core| CoreSet::from_bits(1 << core.0)).collect(),
            Migration::Clustered => clusters.clone(),
            Migration::Global => vec![cores],
        }
    }
}
