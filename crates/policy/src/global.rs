//! Global rate-monotonic and EDF: the m most urgent jobs run, on whatever core.
//!
//! One container behind one lock holds both queues and, for each core, the job **linked** to it: what it should run.
//! What a core really runs may differ for a moment, since a core that links a job to another core only sends it an
//! event. The displaced job still runs there; it is put back into the ready queue by its own core, when that core
//! has taken it off. So a job is never on two cores. This is the shape of GSN-EDF in LITMUS^RT.
//!
//! Each entry takes the lock exactly once. Core 0 arms the timer for releases; any core's entry makes those due.

use crate::cores::Cores;
use crate::heap::{Heap, Key};
use crate::jobs::{Jobs, Rule};
use crate::records::{Clock, OnCore, Recorder};
use crate::{check, Decision, Event, Policy, Running, Setup, SetupError};
use alloc::vec::Vec;
use core::marker::PhantomData;
use tactus_record::{Kind, Sink};
use tactus_sync::{Lock, Order, Rank, Unlocked};
use tactus_time::{CoreId, CoreSet, Duration, Instant};

/// The core that arms the timer for releases.
pub(crate) const RELEASE_CORE: CoreId = CoreId(0);

/// The rank of containers in the order of locks.
pub(crate) struct ContainerRank;

impl Rank for ContainerRank {
    const NUMBER: u32 = 100;
}

/// What all cores share.
pub(crate) struct Global<R> {
    container: Lock<Container<R>, ContainerRank>,
}

/// What belongs to one core.
pub(crate) struct Core {
    id: CoreId,
    clock: Clock,
    on_core: OnCore,
    order: Order<Unlocked>,
}

struct Container<R> {
    rule: PhantomData<fn(R)>,
    /// A place is the task's number.
    tasks: Vec<Jobs>,
    releases: Heap,
    /// Pending jobs that are linked to no core and run on none; one per task, its oldest.
    ready: Heap,
    cores: Vec<CoreEntry>,
    /// The same by urgency.
    wanting: Cores,
    tickets: u32,
}

#[derive(Clone, Copy, Default)]
struct CoreEntry {
    /// What the core should run, with its urgency.
    linked: Option<Key>,
    /// What the core runs since its last decision.
    running: Option<usize>,
}

impl<R: Rule> Global<R> {
    /// Any task will do.
    pub(crate) fn check(setup: &Setup) -> Result<(), SetupError> {
        check::priorities(setup)
    }

    /// Makes the container and all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &Setup) -> (Self, Vec<Core>) {
        let mut releases = Heap::with_capacity(setup.tasks.len());
        for (place, task) in setup.tasks.iter().enumerate() {
            releases.push(Key::at(Instant::ZERO.saturating_add(task.offset), place));
        }
        let mut container = Container {
            rule: PhantomData,
            tasks: (0..setup.tasks.len()).map(|number| Jobs::new(setup, number)).collect(),
            releases,
            ready: Heap::with_capacity(setup.tasks.len()),
            cores: alloc::vec![CoreEntry::default(); setup.cores],
            wanting: Cores::closed(setup.cores),
            tickets: 0,
        };
        (0..setup.cores).for_each(|n| container.wanting.open(CoreId(n as u8), None));
        let core = |n| Core {
            id: CoreId(n as u8),
            clock: Clock::default(),
            on_core: OnCore::Nothing,
            order: Order::unlocked(),
        };
        (Global { container: Lock::new(container) }, (0..setup.cores).map(core).collect())
    }
}

impl<R: Rule> Policy for Global<R> {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        let (now, elapsed) = core.clock.advance(now);
        let mut records = Recorder { sink: records, core: core.id, now };
        let mut container = self.container.lock(&mut core.order);
        container.tickets = container.tickets.wrapping_add(1);
        let ticket = container.tickets;

        let unfinished = container.leave(core.id, core.on_core, elapsed, event, &mut records);
        container.release_due(&mut records);
        let notify = container.link(core.id);
        let run = container.switch(core.id, &mut core.on_core, unfinished, &mut records);
        let timer = match container.releases.peek() {
            Some(next) if core.id == RELEASE_CORE => next.time(),
            _ => Instant::NEVER,
        };
        drop(container);
        for other in notify.iter() {
            records.core(Kind::Notify, u64::from(other.0));
        }
        Decision { run, timer, notify, ticket }
    }
}

impl<R: Rule> Container<R> {
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
                records.about(Kind::Complete, task.subject(), job, task.charged().as_nanos());
                task.complete()
            }
            Event::Remove => {
                records.about(Kind::Removed, task.subject(), job, 0);
                task.remove();
                false
            }
            Event::Start | Event::Timer | Event::Notify => {
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
        while let Some(due) = self.releases.peek() {
            if due.time() > records.now {
                break;
            }
            let place = due.place();
            let task = &mut self.tasks[place];
            let next = if task.removed() { None } else { task.next_release(due.time()) };
            match next {
                Some(next) => self.releases.replace_first(Key::at(next, place)),
                None => {
                    self.releases.pop();
                }
            }
            if task.removed() {
                continue;
            }
            let (job, first) = task.release();
            records.about(Kind::Release, task.subject(), job, due.time().as_nanos());
            if first {
                self.ready.push(task.key::<R>(place));
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
                _ => {
                    self.ready.pop();
                }
            }
            if core != me {
                notify.insert(core);
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
                records.about(Kind::Preempt, self.tasks[place].subject(), job, 0);
            }
            match chosen {
                Some((place, job)) => {
                    records.about(Kind::Dispatch, self.tasks[place].subject(), job, 0);
                    *on_core = OnCore::Job { place, job };
                }
                None => {
                    if *on_core != OnCore::Idle {
                        records.core(Kind::Idle, 0);
                    }
                    *on_core = OnCore::Idle;
                }
            }
        }
        chosen.map(|(place, job)| {
            let task = &self.tasks[place];
            Running { task: task.id(), job, charged: task.charged() }
        })
    }
}
