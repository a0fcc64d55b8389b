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
mod core_state;
mod domain;
mod due;
mod events;
mod laxity;
mod misses;
mod parameters;
mod per_server;
mod queues;
mod readiness;
mod reconfigure;
mod resource;
mod short_way;
mod slots;
mod task_state;
mod timetable;
mod update;
mod windows;
mod yielding;

use crate::tickets::{ContainerRank, Tickets};
use crate::{Decision, Event, Input, Policy, PolicyConfig, PolicyConfigError, ResourceSet};
use alloc::vec::Vec;
pub use arrivals::MAX_WAITING_ARRIVALS;
pub use budget::Budget;
use domain::{Domain, Entry, Facts};
pub use parameters::{
    Child, Partitions, ReconfigurableTree, Resource, ResourceTree, ResourceUser, SchedulerPlan, Server, SlotTasks,
    Supply, TaskPlacement, Tree, MAX_ARRIVALS, MAX_DEPTH, MAX_REPLENISHMENTS,
};
pub use per_server::{divide, DivideError};
use resource::SharedResources;
use tactus_record::Sink;
use tactus_sync::{Lock, Order, Unlocked};
use tactus_task::EventCall;
use tactus_time::{Instant, TaskId};
pub use yielding::Sampler;

/// What cores share: the domains of several cores.
pub struct Servers {
    domains: Vec<Lock<Domain, ContainerRank>>,
    resources: Option<Lock<SharedResources, ContainerRank>>,
    tickets: Tickets,
}

/// What belongs to one core.
pub struct Core {
    order: Order<Unlocked>,
    home: Home,
    /// Its place among the cores of its domain.
    place: usize,
    /// Whether it was told anything since its last decision.
    told: bool,
    /// Whether not, and arrivals may take the [quickest way](Policy::arrive_first).
    arrives_first: bool,
    /// Until when this scheduler had the core, if its parent had it since.
    absent: Option<Instant>,
    /// What arrived and was not handled yet.
    arrivals: [(TaskId, Instant); MAX_ARRIVALS],
    arrived: usize,
    /// Until when the running job asks to wait.
    wait: Instant,
    /// What the running job does to events.
    calls: [EventCall; EventCall::MOST],
    called: usize,
    /// What the last decision made of resources: whether the end of a section is awaited, and which sections must ask.
    awaits_unlock: bool,
    locked: ResourceSet,
}

impl Core {
    fn new(home: Home, place: usize) -> Core {
        let arrivals = [(TaskId(0), Instant::NEVER); MAX_ARRIVALS];
        Core {
            order: Order::unlocked(),
            home,
            place,
            told: false,
            arrives_first: false,
            absent: None,
            arrivals,
            arrived: 0,
            wait: Instant::ZERO,
            calls: [EventCall::Signal(u16::MAX); EventCall::MOST],
            called: 0,
            awaits_unlock: false,
            locked: ResourceSet::default(),
        }
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
            crate::PolicySpec::ReconfigurableTree(changing) => {
                reconfigure::check(setup, changing)?;
                slots::check(setup, changing)
            }
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
                crate::PolicySpec::ReconfigurableTree(changing) => {
                    reconfigure::attach(&mut domain, changing);
                    slots::attach(&mut domain, changing);
                }
                crate::PolicySpec::PerServer(plan) => plan.name(&mut domain),
                crate::PolicySpec::Resources(all) => resource::attach(&mut domain, setup, all),
                crate::PolicySpec::Partitions(partitions) => windows::attach(&mut domain, partitions),
                _ => {}
            }
            domain.look_at_short_ways();
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
        let resources = match &setup.kind {
            crate::PolicySpec::Resources(all) => resource::of_setup(setup, all).map(Lock::new),
            _ => None,
        };
        (Servers { domains, resources, tickets: Tickets::new() }, cores.into_iter().flatten().collect())
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
    const EXPIRES: bool = true;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        let absent = core.absent.take();
        core.told = false;
        let facts = Facts {
            arrivals: &core.arrivals[..core::mem::take(&mut core.arrived)],
            wait: core.wait,
            calls: &core.calls[..core::mem::take(&mut core.called)],
        };
        let entry = Entry { now, absent, event, facts, ticket: 0, shared: None };
        match &mut core.home {
            Home::Own(domain) => {
                let decision = match self.resources.as_ref().filter(|_| domain.meets_others()) {
                    Some(resources) => {
                        let mut guard = resources.lock(&mut core.order);
                        let ticket = self.tickets.next();
                        domain.handle(0, Entry { ticket, shared: Some(&mut guard), ..entry }, records)
                    }
                    None => domain.handle(0, entry, records),
                };
                if domain.resources.is_some() {
                    (core.awaits_unlock, core.locked) = (domain.awaits_unlock(), domain.locked());
                }
                core.arrives_first = domain.arrives_first;
                decision
            }
            Home::Shared(place) => {
                let mut guard = self.domains[*place].lock(&mut core.order);
                let ticket = self.tickets.next();
                guard.handle(core.place, Entry { ticket, ..entry }, records)
            }
        }
    }

    #[inline(always)]
    fn expire<S: Sink>(&self, core: &mut Core, now: Instant, records: &mut S) -> Option<Decision> {
        match &mut core.home {
            Home::Own(domain) if core.absent.is_none() && core.arrived == 0 => domain.next_window(now, records),
            Home::Own(_) | Home::Shared(_) => None,
        }
    }

    fn may_arrive(&self, core: &Core, task: TaskId) -> bool {
        matches!(&core.home, Home::Own(domain) if domain.may_arrive(task))
    }

    #[inline(always)]
    fn arrive_first<S: Sink>(
        &self,
        core: &mut Core,
        now: Instant,
        arrival: (TaskId, Instant),
        is_idle: bool,
        records: &mut S,
    ) -> Option<Decision> {
        match &mut core.home {
            Home::Own(domain) if core.arrives_first => domain.arrive_first(now, arrival, is_idle, records),
            Home::Own(_) | Home::Shared(_) => None,
        }
    }

    fn arrive<S: Sink>(
        &self,
        core: &mut Core,
        now: Instant,
        arrival: (TaskId, Instant),
        records: &mut S,
    ) -> Option<Decision> {
        let Home::Own(domain) = &mut core.home else { return None };
        if core.told {
            return None;
        }
        let decision = domain.arrive_alone(now, arrival, records)?;
        if domain.resources.is_some() {
            (core.awaits_unlock, core.locked) = (domain.awaits_unlock(), domain.locked());
        }
        Some(decision)
    }

    #[inline(always)]
    fn unlock<S: Sink>(&self, core: &mut Core, now: Instant, records: &mut S) -> Option<Decision> {
        let Home::Own(domain) = &mut core.home else { return None };
        if core.told {
            return None;
        }
        let decision = domain.hand_over(now, records)?;
        // Whoever runs now is the most urgent: nobody waits for the end of what it holds. That was all that the other one held, so
        // that both must ask for the same.
        core.awaits_unlock = false;
        Some(decision)
    }

    fn input(&self, core: &mut Core, input: Input) {
        (core.told, core.arrives_first) = (true, false);
        match (input, &mut core.home) {
            (Input::Absent { since }, _) => core.absent = Some(since),
            (Input::Arrival { task, at }, _) => {
                if let Some(next) = core.arrivals.get_mut(core.arrived) {
                    *next = (task, at);
                    core.arrived += 1;
                }
            }
            (Input::Wait { until }, _) => core.wait = until,
            (Input::Misses { lines: asked }, Home::Own(domain)) => domain.charge_lines(core.place, asked, 0),
            (Input::Misses { lines: asked }, Home::Shared(place)) => {
                self.domains[*place].lock(&mut core.order).charge_lines(core.place, asked, 0);
            }
            (Input::WriteBacks { lines: written }, Home::Own(domain)) => domain.charge_lines(core.place, 0, written),
            (Input::WriteBacks { lines: written }, Home::Shared(place)) => {
                self.domains[*place].lock(&mut core.order).charge_lines(core.place, 0, written);
            }
            (Input::Sample { events }, Home::Own(domain)) => domain.note_sample(core.place, events),
            (Input::Sample { events }, Home::Shared(place)) => {
                self.domains[*place].lock(&mut core.order).note_sample(core.place, events);
            }
            (Input::Event(call), _) => {
                if let Some(next) = core.calls.get_mut(core.called) {
                    *next = call;
                    core.called += 1;
                }
            }
            (Input::SlotTask { task, values }, Home::Own(domain)) => domain.tell_slot_task(task, values),
            (Input::SlotTask { task, values }, Home::Shared(place)) => {
                self.domains[*place].lock(&mut core.order).tell_slot_task(task, values);
            }
            (Input::Slot { slot, action, .. }, Home::Own(domain)) => domain.note_slot(slot, action),
            (Input::Slot { slot, action, .. }, Home::Shared(place)) => {
                self.domains[*place].lock(&mut core.order).note_slot(slot, action);
            }
            (Input::Sleep { proxy, until }, Home::Own(domain)) => domain.sleep_until(proxy, until),
            (Input::Section { held, since }, Home::Own(domain)) => domain.enter_sections(held, since),
            // A core with a child scheduler shares no queue, nor does one with resources.
            (Input::Sleep { .. } | Input::Section { .. }, Home::Shared(_)) => {}
        }
    }

    fn is_loaded(&self, core: &mut Core, slot: u16) -> bool {
        match &mut core.home {
            Home::Own(domain) => domain.is_loaded(slot),
            Home::Shared(place) => self.domains[*place].lock(&mut core.order).is_loaded(slot),
        }
    }

    fn awaits_unlock(&self, core: &Core) -> bool {
        core.awaits_unlock
    }

    fn locked<'c>(&self, core: &'c Core) -> &'c ResourceSet {
        &core.locked
    }
}
