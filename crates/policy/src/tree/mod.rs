//! Trees of servers: any order of tasks, or a further level of servers, inside any server on any set of cores.
//!
//! A server has its budget on each of its cores by itself: on `m` cores it is `m` **virtual processors**, each bound to
//! its core. What is inside a server waits in queues: one for each core, one for all, or one for each cluster of cores;
//! jobs move among the virtual processors that share a queue. Place 0 of the tree is the **root**, which has all cores
//! and all time, so a root without servers is an ordinary partitioned, clustered or global policy.
//!
//! **Who runs** (`assign`). Each core walks down from its root: at each server the most urgent entry, a server that has
//! budget and work, or a job. Cores that arrive at one shared queue get its most urgent jobs; where there are more cores
//! than jobs, the surplus ones turn away and walk again. So a virtual processor that is chosen never idles while a job of
//! its server waits, and no job waits while one runs that is less urgent (global fixed-priority invariant, JUNIPER D3.6).
//!
//! **Who shares what** (`domain`). Cores that share a queue, directly or by others, are a domain, behind one lock; a core
//! that shares none is a domain of its own and takes no lock.

mod arrivals;
mod assign;
mod budget;
mod build;
mod check;
mod codec;
mod core_state;
mod domain;
mod laxity;
mod per_server;
mod queues;
mod reconfigure;
mod replenishments;
mod resource;
mod task_state;
mod windows;

use crate::clustered::ContainerRank;
use crate::tickets::Tickets;
use crate::{Decision, Event, Input, Policy, PolicyConfig, PolicyConfigError};
use alloc::vec::Vec;
pub use arrivals::MAX_WAITING_ARRIVALS;
pub use budget::Budget;
pub(crate) use codec::{change, put_change, CHANGE_BYTES};
use domain::Domain;
pub use per_server::{divide, Child, DivideError, SchedulerPlan};
pub use reconfigure::ReconfigurableTree;
pub use resource::{Resource, ResourceTree, ResourceUser};
use tactus_record::Sink;
use tactus_sync::{Lock, Order, Unlocked};
use tactus_task::{Overrun, Release, ServerKind, TaskOrder};
use tactus_time::{CoreSet, Duration, Instant, TaskId};
pub use windows::Partitions;

/// The most servers from the root down to a task, the root included.
pub const MAX_DEPTH: usize = 6;
/// The most arrivals that one call may bring; a machine brings further ones by its next call.
pub const MAX_ARRIVALS: usize = 8;
/// The most replenishments that a sporadic server keeps apart.
pub const MAX_REPLENISHMENTS: usize = 32;

/// A tree of servers and where each task is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// The servers; place 0 is the root. A server comes after its parent.
    pub servers: Vec<Server>,
    /// For each task of the set-up, in its order.
    pub places: Vec<TaskPlacement>,
    /// What releases each task's jobs, in the order of the tasks; empty if time releases them all.
    pub releases: Vec<Release>,
}

/// A server, or the root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// Place of the server that it is inside of; the root's is 0.
    pub parent: u16,
    /// The cores on which it has its budget: some of its parent's.
    pub cores: CoreSet,
    /// How what is inside is ordered.
    pub order: TaskOrder,
    /// How its cores share queues: each core is in one of these sets. Where there are servers inside, each core is by
    /// itself.
    pub queues: Vec<CoreSet>,
    /// The length of a turn of [`TaskOrder::RoundRobin`]; of [`TaskOrder::LeastLaxity`], how long a job runs at least until it
    /// is looked at again because time has passed; greater than zero there.
    pub quantum: Duration,
    /// Its budget on each core; nothing if and only if it is the root.
    pub supply: Option<Supply>,
    /// Larger goes first, where its parent orders by [`TaskOrder::FixedPriority`].
    pub priority: u32,
    /// Without budget its work may go on behind all that has budget.
    pub background: bool,
}

/// How much time a server gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Supply {
    /// When its budget comes back.
    pub kind: ServerKind,
    /// The budget, greater than zero and no longer than the period.
    pub budget: Duration,
    /// The period.
    pub period: Duration,
}

/// Where a task is, and what it may do there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskPlacement {
    /// Place of its server.
    pub server: u16,
    /// Larger goes first, where its server orders by [`TaskOrder::FixedPriority`].
    pub priority: u32,
    /// What happens when a job takes longer than it should.
    pub overrun: Overrun,
}

/// What cores share: the domains of several cores.
pub(crate) struct Servers {
    domains: Vec<Lock<Domain, ContainerRank>>,
    tickets: Tickets,
}

/// What belongs to one core.
pub(crate) struct Core {
    order: Order<Unlocked>,
    home: Home,
    /// Its place among the cores of its domain.
    place: usize,
    /// Until when this scheduler had the core, if its parent had it since.
    absent: Option<Instant>,
    /// What arrived and was not handled yet.
    arrivals: [(TaskId, Instant); MAX_ARRIVALS],
    arrived: usize,
}

impl Core {
    fn new(home: Home, place: usize) -> Core {
        let arrivals = [(TaskId(0), Instant::NEVER); MAX_ARRIVALS];
        Core { order: Order::unlocked(), home, place, absent: None, arrivals, arrived: 0 }
    }
}

enum Home {
    /// A domain that no other core is in.
    Own(alloc::boxed::Box<Domain>),
    /// Place among the shared domains.
    Shared(usize),
}

impl Servers {
    /// Finds the first thing that is wrong with the tree.
    pub(crate) fn check(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
        check::check(setup, tree(setup))?;
        windows::check(setup, tree(setup))?;
        match &setup.kind {
            crate::PolicySpec::ReconfigurableTree(changing) => reconfigure::check(setup, changing),
            crate::PolicySpec::PerServer(plan) => plan.check(setup),
            crate::PolicySpec::Resources(all) => resource::check(setup, all),
            _ => Ok(()),
        }
    }

    /// Makes the domains and all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &PolicyConfig) -> (Self, Vec<Core>) {
        let tree = tree(setup);
        let mut domains = Vec::new();
        let mut cores: Vec<Option<Core>> = (0..setup.cores).map(|_| None).collect();
        for set in build::domains(setup, tree) {
            let mut domain = build::domain(setup, tree, set);
            match &setup.kind {
                crate::PolicySpec::ReconfigurableTree(changing) => reconfigure::attach(&mut domain, changing),
                crate::PolicySpec::PerServer(plan) => plan.name(&mut domain),
                crate::PolicySpec::Resources(all) => resource::attach(&mut domain, setup, all),
                crate::PolicySpec::Partitions(partitions) => windows::attach(&mut domain, partitions),
                _ => {}
            }
            let alone = set.iter().nth(1).is_none();
            for (place, core) in set.iter().enumerate() {
                cores[core.index()] = (!alone).then(|| Core::new(Home::Shared(domains.len()), place));
            }
            match (alone, set.iter().next()) {
                (true, Some(core)) => {
                    let home = Home::Own(alloc::boxed::Box::new(domain));
                    cores[core.index()] = Some(Core::new(home, 0));
                }
                _ => domains.push(Lock::new(domain)),
            }
        }
        (Servers { domains, tickets: Tickets::new() }, cores.into_iter().flatten().collect())
    }
}

/// The tree in a set-up for it.
fn tree(setup: &PolicyConfig) -> &Tree {
    match &setup.kind {
        crate::PolicySpec::Servers(tree) | crate::PolicySpec::ReconfigurableTree(ReconfigurableTree { tree, .. }) => {
            tree
        }
        crate::PolicySpec::PerServer(SchedulerPlan { tree, .. }) => tree,
        crate::PolicySpec::Resources(ResourceTree { tree, .. }) => tree,
        crate::PolicySpec::Partitions(Partitions { tree, .. }) => tree,
        other => unreachable!("the list of policies takes a tree for {other:?}"),
    }
}

impl Policy for Servers {
    type Core = Core;

    const RESOURCES: bool = true;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        let absent = core.absent.take();
        let arrivals = &core.arrivals[..core::mem::take(&mut core.arrived)];
        match &mut core.home {
            Home::Own(domain) => domain.handle(0, (now, absent), (event, arrivals), 0, records),
            Home::Shared(place) => {
                let mut guard = self.domains[*place].lock(&mut core.order);
                let ticket = self.tickets.next();
                guard.handle(core.place, (now, absent), (event, arrivals), ticket, records)
            }
        }
    }

    fn input(&self, core: &mut Core, input: Input) {
        match (input, &mut core.home) {
            (Input::Absent { since }, _) => core.absent = Some(since),
            (Input::Arrival { task, at }, _) => {
                if let Some(next) = core.arrivals.get_mut(core.arrived) {
                    *next = (task, at);
                    core.arrived += 1;
                }
            }
            (Input::Sleep { proxy, until }, Home::Own(domain)) => domain.sleep_until(proxy, until),
            (Input::Section { held, since }, Home::Own(domain)) => domain.enter_sections(held, since),
            // A core with a child scheduler shares no queue, nor does one with ceilings.
            (Input::Sleep { .. } | Input::Section { .. }, Home::Shared(_)) => {}
        }
    }

    fn awaits_unlock(&self, core: &Core) -> bool {
        matches!(&core.home, Home::Own(domain) if domain.awaits_unlock())
    }
}
