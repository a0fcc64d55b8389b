//! Clustered and global orders: the most urgent jobs run, as many as the cluster has cores, on whatever core of it. A
//! global order has one cluster, of all cores.
//!
//! One container behind one lock holds both queues of a cluster and, for each core, the job **linked** to it: what it should run.
//! What a core really runs may differ for a moment, since a core that links a job to another core only sends it an
//! event. The displaced job still runs there; it is put back into the ready queue by its own core, when that core
//! has taken it off. So a job is never on two cores. This is the shape of GSN-EDF in LITMUS^RT.
//!
//! Each entry takes the lock exactly once. The cluster's first core arms the timer for releases; any core's entry makes
//! those due.

use crate::cores::{Cores, RELEASE_CORE};
use crate::groups::Groups;
use crate::heap::{Heap, Key};
use crate::jobs::{Jobs, Rule};
use crate::records::{Clock, OnCore, Recorder};
use crate::tickets::{ContainerRank, Tickets};
use crate::{check, Decision, Event, Policy, PolicyConfig, PolicyConfigError, Running};
use alloc::vec::Vec;
use core::marker::PhantomData;
use tactus_record::{EventKind, Sink};
use tactus_sync::{Lock, Order, Unlocked};
use tactus_time::{CoreId, CoreSet, Duration, Instant};

/// What all cores share.
pub struct Clustered<R> {
    containers: Vec<Lock<Container<R>, ContainerRank>>,
    tickets: Tickets,
}

/// What belongs to one core.
pub struct Core {
    id: CoreId,
    /// Which cluster it is in.
    cluster: usize,
    /// Its number there.
    seat: CoreId,
    clock: Clock,
    on_core: OnCore,
    order: Order<Unlocked>,
}

struct Container<R> {
    rule: PhantomData<fn(R)>,
    /// Places are in the order of task numbers.
    tasks: Vec<Jobs>,
    releases: Groups,
    /// Pending jobs that are linked to no core and run on none; one per task, its oldest.
    ready: Heap,
    /// By seat.
    cores: Vec<CoreEntry>,
    /// The same by urgency.
    wanting: Cores,
}

#[derive(Clone, Copy)]
struct CoreEntry {
    id: CoreId,
    /// What the core should run, with its urgency.
    linked: Option<Key>,
    /// What the core runs since its last decision.
    running: Option<usize>,
}

/// The clusters of a set-up; of a global order, the one that all cores are in.
fn sets(setup: &PolicyConfig) -> Vec<CoreSet> {
    setup.kind.clusters().map_or_else(|| alloc::vec![CoreSet::first(setup.cores)], |clusters| clusters.sets.clone())
}

impl<R: Rule> Clustered<R> {
    /// Clusters part the cores, and each task has a core, which tells its cluster. Where the order is global any task will do.
    pub(crate) fn check(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
        check::priorities(setup)?;
        let Some(clusters) = setup.kind.clusters() else { return Ok(()) };
        let all = CoreSet::first(setup.cores).bits();
        let seen = clusters.sets.iter().try_fold(0, |seen, set| {
            (set.bits() != 0 && set.bits() & seen == 0 && set.bits() & !all == 0).then_some(seen | set.bits())
        });
        if seen != Some(all) {
            return Err(PolicyConfigError::Clusters);
        }
        check::cores_of_tasks(setup, |_| true)
    }

    /// Makes the containers and all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &PolicyConfig) -> (Self, Vec<Core>) {
        let sets = sets(setup);
        let core = |n| {
            let id = CoreId(n as u8);
            let cluster = sets.iter().position(|set| set.contains(id)).unwrap_or(0);
            let seat = sets[cluster].iter().position(|core| core == id).unwrap_or(0);
            let (clock, order) = (Clock::default(), Order::unlocked());
            Core { id, cluster, seat: CoreId(seat as u8), clock, on_core: OnCore::Nothing, order }
        };
        let cores = (0..setup.cores).map(core).collect();
        let global = setup.kind.clusters().is_none();
        let within = |set: CoreSet| move |core: Option<CoreId>| global || core.is_some_and(|core| set.contains(core));
        let containers = sets.iter().map(|set| Lock::new(Container::new(setup, *set, within(*set)))).collect();
        (Clustered { containers, tickets: Tickets::new() }, cores)
    }
}

impl<R: Rule> Policy for Clustered<R> {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        let (now, elapsed) = core.clock.advance(now);
        let mut records = Recorder { sink: records, core: core.id, now };
        let mut container = self.containers[core.cluster].lock(&mut core.order);
        let ticket = self.tickets.next();

        let unfinished = container.leave(core.seat, core.on_core, elapsed, event, &mut records);
        container.release_due(&mut records);
        let notify = container.link(core.seat);
        let run = container.switch(core.seat, &mut core.on_core, unfinished, &mut records);
        let timer = if core.seat == RELEASE_CORE { container.releases.next() } else { Instant::NEVER };
        drop(container);
        for other in notify.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        Decision { run, timer, notify, ticket }
    }
}

impl<R: Rule> Container<R> {
    /// The container of these cores, with the tasks whose core is `within`.
    fn new(setup: &PolicyConfig, cores: CoreSet, within: impl Fn(Option<CoreId>) -> bool) -> Container<R> {
        let mine = || setup.tasks.iter().enumerate().filter(|(_, task)| within(task.core));
        let tasks: Vec<Jobs> = mine().map(|(number, _)| Jobs::new(setup, number)).collect();
        let releases = Groups::new(mine().map(|(_, task)| (task.offset, task.period)));
        let ready = Heap::with_capacity(tasks.len());
        let cores: Vec<CoreEntry> = cores.iter().map(|id| CoreEntry { id, linked: None, running: None }).collect();
        let mut wanting = Cores::closed(cores.len());
        (0..cores.len()).for_each(|seat| wanting.open(CoreId(seat as u8), None));
        Container { rule: PhantomData, tasks, releases, ready, cores, wanting }
    }

    /// Charges and, where the event says so, ends the job that the core ran. A job that is no longer linked here is
    /// off its core now, so it is ready for any core. Gives the job that could go on.
    fn leave<S: Sink>(
        &mut self,
        me: CoreId,
        on_core: OnCore,
        elapsed: Duration,
        event: Event,
        records: &mut Recorder<S>,
    ) -> Option<(usize, u32)> {
        let OnCore::Job { place, job } = on_core else { return None };
        let task = &mut self.tasks[place];
        let entry = &mut self.cores[me.index()];
        task.charge(elapsed);
        let linked_here = entry.linked.is_some_and(|key| key.place() == place);
        entry.running = None;
        let pending = match event {
            Event::Complete => {
                records.about(EventKind::Complete, task.subject(), job, task.charged().as_nanos());
                task.complete()
            }
            Event::Remove => {
                records.about(EventKind::Removed, task.subject(), job, 0);
                task.remove();
                self.releases.remove(place);
                false
            }
            Event::Start
            | Event::Timer
            | Event::Notify
            | Event::Arrival
            | Event::Unlock
            | Event::Wait
            | Event::Lock
            | Event::Signal => {
                if linked_here {
                    entry.running = Some(place);
                } else {
                    self.ready.push(task.key::<R>(place));
                }
                return Some((place, job));
            }
        };
        if linked_here {
            entry.linked = None;
            self.wanting.open(me, None);
        }
        if pending {
            self.ready.push(task.key::<R>(place));
        }
        None
    }

    fn release_due<S: Sink>(&mut self, records: &mut Recorder<S>) {
        while let Some((time, places)) = self.releases.due(records.now) {
            for &place in places {
                let Some(task) = self.tasks.get_mut(place).filter(|task| !task.removed()) else { continue };
                let (job, first) = task.release();
                records.about(EventKind::Release, task.subject(), job, time.as_nanos());
                if first {
                    self.ready.push(task.key::<R>(place));
                }
            }
        }
    }

    /// Links ready jobs to cores while one is more urgent than what some core has. Gives the other cores concerned.
    fn link(&mut self, me: CoreId) -> CoreSet {
        let mut notify = CoreSet::EMPTY;
        while let Some(best) = self.ready.peek() {
            let Some(core) = self.wanting.least_urgent(me) else { break };
            let entry = &mut self.cores[core.index()];
            let displaced = match entry.linked {
                Some(linked) if linked < best => break,
                linked => linked,
            };
            entry.linked = Some(best);
            self.wanting.open(core, Some(best));
            let still_there = core != me && displaced.is_some_and(|key| entry.running == Some(key.place()));
            match displaced {
                // It runs nowhere, or on this very core, which is about to take it off.
                Some(displaced) if !still_there => self.ready.replace_first(displaced),
                _ => self.ready.drop_first(),
            }
            if core != me {
                notify.insert(entry.id);
            }
        }
        notify
    }

    /// Turns the core to what is linked to it. `unfinished`: what ran until now and could go on.
    fn switch<S: Sink>(
        &mut self,
        me: CoreId,
        on_core: &mut OnCore,
        unfinished: Option<(usize, u32)>,
        records: &mut Recorder<S>,
    ) -> Option<Running> {
        let entry = &mut self.cores[me.index()];
        let chosen = entry.linked.map(|key| (key.place(), self.tasks[key.place()].job()));
        entry.running = chosen.map(|(place, _)| place);
        if chosen != unfinished || chosen.is_none() {
            if let Some((place, job)) = unfinished {
                records.about(EventKind::Preempt, self.tasks[place].subject(), job, 0);
            }
            match chosen {
                Some((place, job)) => {
                    records.about(EventKind::Dispatch, self.tasks[place].subject(), job, 0);
                    *on_core = OnCore::Job { place, job };
                }
                None => {
                    if *on_core != OnCore::Idle {
                        records.core(EventKind::Idle, 0);
                    }
                    *on_core = OnCore::Idle;
                }
            }
        }
        chosen.map(|(place, job)| {
            let task = &self.tasks[place];
            Running { task: task.id(), job, charged: task.charged(), arrived: None }
        })
    }
}
