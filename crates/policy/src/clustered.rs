//! Clustered and global orders: the most urgent jobs run, as many as the cluster has cores, on whatever core of it. A
//! global order has one cluster, of all cores.
//!
//! One container behind one lock holds both queues of a cluster and, for each core, the job **linked** to it: what it should run.
//! What a core really runs may differ for a moment, since a core that links a job to another core only sends it an
//! event. The displaced job still runs there; it is put back into the ready queue by its own core, when that core
//! has taken it off. So a job is never on two cores. This is the shape of GSN-EDF in LITMUS^RT.
//!
//! Of the jobs that a decision releases only as many can get a core as there are cores: the most urgent of them lie in a short
//! sorted row ([`Front`]) and never see the ready queue, which has room for all.
//!
//! Each entry takes the lock exactly once. The cluster's first core arms the timer for releases; any core's entry makes
//! those due.

use crate::cores::{Cores, RELEASE_CORE};
use crate::groups::Groups;
use crate::heap::{Key, Ready};
use crate::jobs::{Jobs, Rule};
use crate::records::{Clock, OnCore, Recorder};
use crate::tickets::{ContainerRank, Tickets};
use crate::{check, Decision, Event, Policy, PolicyConfig, PolicyConfigError, Running};
use alloc::vec::Vec;
use core::marker::PhantomData;
use tactus_record::{EventKind, Sink};
use tactus_sync::{Lock, Order, Unlocked};
use tactus_time::{CoreId, CoreSet, Duration, Instant, MAX_CORES};

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
    ready: Ready,
    /// Those of them that this decision released and that may get a core; empty between decisions.
    front: Front,
    /// By seat.
    cores: [CoreEntry; MAX_CORES],
    /// The same by urgency.
    wanting: Cores,
}

#[derive(Clone, Copy)]
struct CoreEntry {
    id: CoreId,
    /// What the core should run, with its urgency; [`Key::NONE`] if that is nothing.
    linked: Key,
    /// The place of the task that the core runs since its last decision; that of [`Key::NONE`] if it runs none.
    running: usize,
}

/// The most urgent of the jobs that a decision releases, in their order: as many as the cluster has cores at most.
struct Front {
    keys: [Key; MAX_CORES],
    len: usize,
    /// The index of the last one that there is room for.
    last: usize,
}

impl Front {
    /// An empty one for so many cores.
    fn new(cores: usize) -> Front {
        Front { keys: [Key::NONE; MAX_CORES], len: 0, last: cores.clamp(1, MAX_CORES) - 1 }
    }
    /// The n-th; [`Key::NONE`] if there are no more than n.
    #[inline(always)]
    fn get(&self, n: usize) -> Key {
        if n < self.len {
            self.keys[n % MAX_CORES]
        } else {
            Key::NONE
        }
    }
    /// Takes a key in; if there is no room, the least urgent one leaves for the ready queue. Gives what a key must be more urgent
    /// than from now on to be taken in, where it was `bar` before.
    #[inline(always)]
    fn take_in(&mut self, key: Key, bar: Key, ready: &mut Ready) -> Key {
        let mut hole = self.len;
        if hole > self.last {
            hole = self.last;
            ready.push(self.keys[hole % MAX_CORES]);
        } else {
            self.len += 1;
        }
        while hole > 0 {
            let before = self.keys[(hole - 1) % MAX_CORES];
            if before < key {
                break;
            }
            self.keys[hole % MAX_CORES] = before;
            hole -= 1;
        }
        self.keys[hole % MAX_CORES] = key;
        if self.len > self.last {
            self.keys[self.last % MAX_CORES]
        } else {
            bar
        }
    }
    /// All from the n-th on leave for the ready queue.
    #[inline(always)]
    fn empty_into(&mut self, ready: &mut Ready, mut n: usize) {
        while n < self.len {
            ready.push(self.keys[n % MAX_CORES]);
            n += 1;
        }
        self.len = 0;
    }
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
        let ready = Ready::with_capacity(tasks.len());
        let nothing = CoreEntry { id: CoreId(0), linked: Key::NONE, running: Key::NONE.place() };
        let count = cores.iter().count();
        let mut wanting = Cores::closed(count);
        let front = Front::new(count);
        let mut seats = [nothing; MAX_CORES];
        for (seat, (entry, id)) in seats.iter_mut().zip(cores.iter()).enumerate() {
            entry.id = id;
            wanting.open(CoreId(seat as u8), None);
        }
        Container { rule: PhantomData, tasks, releases, ready, front, cores: seats, wanting }
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
        let entry = &mut self.cores[me.index() % MAX_CORES];
        task.charge(elapsed);
        let linked_here = entry.linked.place() == place;
        entry.running = Key::NONE.place();
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
            | Event::Signal
            | Event::Slot => {
                if linked_here {
                    entry.running = place;
                } else {
                    self.ready.push(task.key::<R>(place));
                }
                return Some((place, job));
            }
        };
        if linked_here {
            entry.linked = Key::NONE;
            self.wanting.open(me, None);
        }
        if pending {
            self.ready.push(task.key::<R>(place));
        }
        None
    }

    fn release_due<S: Sink>(&mut self, records: &mut Recorder<S>) {
        let mut bar = self.wanting.bar();
        while let Some((time, places)) = self.releases.due(records.now) {
            for &place in places {
                let Some(task) = self.tasks.get_mut(place).filter(|task| !task.removed()) else { continue };
                let (job, first) = task.release();
                records.about(EventKind::Release, task.subject(), job, time.as_nanos());
                if !first {
                    continue;
                }
                let key = task.key::<R>(place);
                if key < bar {
                    bar = self.front.take_in(key, bar, &mut self.ready);
                } else {
                    self.ready.push(key);
                }
            }
        }
    }

    /// Links ready jobs to cores while one is more urgent than what some core has. Gives the other cores concerned.
    fn link(&mut self, me: CoreId) -> CoreSet {
        let mut notify = CoreSet::EMPTY;
        let mut taken = 0;
        loop {
            let released = self.front.get(taken);
            let best = self.ready.peek().unwrap_or(Key::NONE).min(released);
            if best >= self.wanting.bar() {
                break;
            }
            let Some(core) = self.wanting.least_urgent(me) else { break };
            let entry = &mut self.cores[core.index() % MAX_CORES];
            let displaced = core::mem::replace(&mut entry.linked, best);
            self.wanting.open(core, Some(best));
            if best == released {
                taken += 1;
            } else {
                self.ready.pop();
            }
            // What runs nowhere, or on this very core, which is about to take it off, waits for any core.
            if displaced != Key::NONE && (core == me || entry.running != displaced.place()) {
                self.ready.push(displaced);
            }
            if core != me {
                notify.insert(entry.id);
            }
        }
        self.front.empty_into(&mut self.ready, taken);
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
        let entry = &mut self.cores[me.index() % MAX_CORES];
        let place = entry.linked.place();
        // The place of none is no task's.
        let chosen = self.tasks.get(place).map(|task| (place, task.job()));
        entry.running = place;
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
