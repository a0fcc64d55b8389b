//! MC²: mixed criticality on multicore (Herman, Kenna, Mollison, Anderson, Johnson). Strictly A before B before C
//! before D on each core; budgets per period; finished jobs that go on as ghosts and let lower levels run early.
//!
//! Levels A and B of a core are its own (`local`). Levels C and D lie behind one lock (`shared`), taken once by an
//! entry at which the core is or becomes open to level C, or at which core 0 serves releases of C and D; other
//! entries take none. One lock for both containers, because a decision about C decides which cores are open to D: with
//! two locks the decisions would have no single order, and a run could not be replayed from its tickets.
//!
//! The tasks may change while the system runs (`reconfigure`).

mod check;
mod job;
mod local;
mod parameters;
mod reconfigure;
mod shared;
mod status;
mod table;
mod task_state;

use crate::cores::RELEASE_CORE;
use crate::records::{Clock, Recorder};
use crate::tickets::ContainerRank;
use crate::{Decision, Event, Policy, PolicyConfig, PolicyConfigError, Reconfigurable, Running};
use alloc::vec::Vec;
pub use job::{Ghost, Job};
pub use local::{Local, Wanted as LocalWanted};
pub use parameters::{Mc2, Mc2Now};
use reconfigure::Watch;
pub use shared::{Shared, Wanted as SharedWanted};
pub use status::{Activity, CoreStatus};
use tactus_record::{EventKind, Sink};
use tactus_sync::{Lock, Order, Unlocked};
use tactus_time::{CoreId, CoreSet, Instant, Level};
pub use task_state::{State, TaskState};

/// What all cores share.
pub struct Containers {
    shared: Lock<Shared, ContainerRank>,
}

/// What belongs to one core.
pub struct Core {
    id: CoreId,
    clock: Clock,
    order: Order<Unlocked>,
    local: Local,
    status: CoreStatus,
    /// What it knows of changes, from when on it has to look at them, and when the next one is asked for.
    watch: Watch,
    look: Instant,
    next_change: Instant,
    /// When the next release of C or D is due, as far as this core knows: never too late.
    next_shared: Instant,
    /// It is the only core, so that releases of C and D concern nobody while it runs a job of level A.
    alone: bool,
}

impl Containers {
    /// Levels A and B need cores, level A a table with slots for all its tasks.
    pub(crate) fn check(setup: &PolicyConfig) -> Result<(), PolicyConfigError> {
        match &setup.kind {
            crate::PolicySpec::ReconfigurableMc2(all) => {
                check::check(setup, &all.policy, &all.absent)?;
                reconfigure::check(setup, all)
            }
            _ => check::check(setup, parameters(setup), &[]),
        }
    }

    /// Makes the containers and all cores. The set-up must have been checked.
    pub(crate) fn new(setup: &PolicyConfig) -> (Self, Vec<Core>) {
        let mc2 = parameters(setup);
        let mut shared = Shared::new(setup, mc2);
        let core = |n| {
            let id = CoreId(n as u8);
            Core {
                id,
                clock: Clock::default(),
                order: Order::unlocked(),
                local: Local::new(setup, mc2, id, &[Level::A, Level::B]),
                status: CoreStatus::default(),
                watch: Watch::default(),
                look: Instant::NEVER,
                next_change: Instant::NEVER,
                alone: setup.cores == 1,
                next_shared: Instant::NEVER,
            }
        };
        let mut cores: Vec<Core> = (0..setup.cores).map(core).collect();
        if let crate::PolicySpec::ReconfigurableMc2(all) = &setup.kind {
            let mut locals: Vec<_> = cores.iter_mut().map(|core| (&mut core.local, &mut core.watch)).collect();
            reconfigure::attach(setup, all, &mut shared, &mut locals);
            for core in &mut cores {
                (core.look, core.next_change) = (core.watch.look(), core.watch.next());
            }
        }
        cores[RELEASE_CORE.index()].next_shared = shared.next_release();
        (Containers { shared: Lock::new(shared) }, cores)
    }
}

/// The parameters of MC² in a set-up for it in which nothing changes.
///
/// # Errors
/// If the set-up breaks a rule, the first one found, or is for anything else.
pub fn checked(setup: &PolicyConfig) -> Result<&Mc2, PolicyConfigError> {
    let crate::PolicySpec::Mc2(mc2) = &setup.kind else { return Err(PolicyConfigError::OtherProgram) };
    crate::check::check(setup)?;
    check::check(setup, mc2, &[])?;
    Ok(mc2)
}

/// The parameters of MC² in a set-up for it.
fn parameters(setup: &PolicyConfig) -> &Mc2 {
    match &setup.kind {
        crate::PolicySpec::Mc2(mc2) | crate::PolicySpec::ReconfigurableMc2(Reconfigurable { policy: mc2, .. }) => mc2,
        other => unreachable!("the list of policies takes MC² for {other:?}"),
    }
}

impl Policy for Containers {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        self.decide(core, now, event, records)
    }
}

impl Containers {
    fn decide(&self, core: &mut Core, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
        let last = core.clock.last();
        let (now, elapsed) = core.clock.advance(now);
        let mut records = Recorder { sink: records, core: core.id, now };
        let ran = core.status.job();
        let was_open = core.status.activity != Activity::Nothing && !ran.is_some_and(|job| job.is_local());
        let me = core.id;
        let mut unfinished = None;
        // A core that was open to C has something to say there whatever comes, so the event can come first.
        let mut order = Some(&mut core.order);
        let changing = core.look <= now;
        let mut held = if was_open || changing { order.take().map(|order| self.shared.lock(order)) } else { None };
        if let Some(shared) = held.as_mut().filter(|_| changing) {
            core.watch.catch_up(&mut core.local, shared);
        }
        let mut table = core.local.look_up(now);
        let late = core.local.late(&table, ran, last, now);
        // Up to where the slot's owner is charged.
        let elapsed = elapsed.saturating_sub(late);
        if let Some(shared) = &mut held {
            if let Some(job) = ran.filter(|job| !job.is_local()) {
                unfinished = shared.leave(me, job, elapsed, event, &mut records).then_some(job);
            }
            if let Some(ghost) = &mut core.status.ghosts[2] {
                ghost.left = ghost.left.saturating_sub(elapsed);
                shared.drain(me, ghost, elapsed);
            }
        }
        if let Some(job) = ran.filter(Job::is_local) {
            unfinished = core.local.leave(job, elapsed, event, &mut records).then_some(job);
        }
        for ghost in core.status.ghosts[..2].iter_mut().flatten() {
            ghost.left = ghost.left.saturating_sub(elapsed);
            core.local.drain(ghost, elapsed);
        }
        let mut notify = CoreSet::EMPTY;
        if let Some(shared) = held.as_mut().filter(|_| changing) {
            notify = core.watch.go_on(&mut core.local, shared, &mut records);
            table = core.local.look_up(now);
        }
        let deaf = core.local.level_a_goes_on(&table, unfinished);
        core.local.release_due(deaf, &mut records);
        core.local.charge_late(&table, late);
        let local = core.local.choose(&table, now);
        let open = local.run.is_none();
        if held.is_none() && (open || core.next_shared <= now && !(core.alone && deaf)) {
            held = order.map(|order| self.shared.lock(order));
        }

        let mut ticket = 0;
        let mut wanted = SharedWanted::default();
        if let Some(shared) = &mut held {
            ticket = shared.ticket();
            shared.set_open(me, open);
            shared.release_due(me, &mut notify, &mut records);
            shared.link(me, &mut notify);
            wanted = shared.take_up(me, now);
            if me == RELEASE_CORE {
                core.next_shared = shared.next_release();
            }
            if changing {
                core.watch.catch_up(&mut core.local, shared);
                shared.publish_idle(me, core.local.idle_until());
                (core.look, core.next_change) = (core.watch.look(), core.watch.next());
            }
        }
        drop(held);

        let run = local.run.map(|job| (job, core.local.charged(job.place()))).or(wanted.run);
        core.status.switch(
            [local.ghosts[0], local.ghosts[1], wanted.ghost],
            unfinished,
            run.map(|r| r.0),
            &mut records,
        );
        for other in notify.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        let level_a = local.run.is_some_and(|job| job.name.1 == Level::A);
        let next_shared = if core.alone && level_a { Instant::NEVER } else { core.next_shared };
        let timer = wanted.timer.unwrap_or(Instant::NEVER).min(local.timer).min(next_shared).min(core.next_change);
        let run = run.map(|(job, charged)| Running { task: job.name.0, job: job.number, charged, arrived: None });
        Decision { run, timer, notify, ticket }
    }
}
