//! Every scheduling decision of Tactus: pure state machines, events in, decisions out, the clock passed in.
//!
//! The same code runs in the root scheduler component of the kernel, in the simulator, and in tests. A policy
//! never reads a clock, never blocks and never allocates after [`Scheduler::new`].
//!
//! **State.** What belongs to one core lies in that core's [`CoreState`], which its owner passes in as `&mut`: no
//! other core touches it. What is shared among cores by the policy's nature lies in the [`Scheduler`] behind the
//! locks of `tactus-sync`.
//!
//! **Charging.** From the decision that gave a job a core to the next decision on that core, all time is charged
//! to the job: its own execution and the system's work on its behalf. Sums of charges therefore equal elapsed
//! time, and a delay in noticing an event is never paid twice.
//!
//! One boundary lies before the decision: at level A of MC² a slot is its owner's from its nominal start, however late
//! that is noticed. The job that gets the core is charged from the start of the slot, or from its own nominal release
//! or the last decision on that core if those are later; whoever had the core until then is charged up to there. So
//! [`Running::charged`] holds the delay already, and a job of level A that ends when its charge is its demand ends at
//! the same time whatever the levels below have made the core do. (If the delay is as long as the job's budget, it is not
//! the job's: who was late is not to make it lose its budget before it began.)
//!
//! **What can wait.** While a job of level A has the core, levels below may be released without being looked at:
//! nothing could come of it. The next decision that gives the core anew makes all that due, with its nominal times.
//!
//! **Order of records.** Of one decision: what the event did (`Complete`, `Removed`, `Exhausted`), releases with the
//! budgets that they bring, ghosts that end, `Preempt`, ghosts that begin, `Dispatch` or `Idle`, `Notify`.
//!
//! **Ties** between equal deadlines or periods go to the lower task number.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod check;
mod clustered;
mod codec;
mod cores;
mod heap;
mod jobs;
mod mc2;
mod mixed;
mod partitioned;
mod reconfigure;
mod records;
mod releases;
mod scheduler;
mod tickets;
mod tree;

use alloc::vec::Vec;
use tactus_record::Sink;
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level, TaskId};

pub use check::PolicyConfigError;
pub use clustered::Clusters;
pub use codec::DecodeError;
pub use mc2::Mc2Now;
pub use mixed::{Dual, DualNow, Mixed, MixedOrder};
pub use reconfigure::{Action, Change, Part, Protocol, Reconfigurable, Values};
pub use scheduler::{CoreState, PolicySpec, Scheduler, Visitor};
pub use tactus_task::{
    EarlyArrival, Overrun, Release, ResourceProtocol, Sections, ServerKind, Slot, Table, TaskOrder, Window,
};
pub use tree::{
    divide, Budget, Child, DivideError, Partitions, ReconfigurableTree, Resource, ResourceTree, ResourceUser,
    SchedulerPlan, Server, Supply, TaskPlacement, Tree, MAX_ARRIVALS, MAX_DEPTH, MAX_REPLENISHMENTS,
    MAX_WAITING_ARRIVALS,
};

/// What a scheduler is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyConfig {
    /// Number of cores, 1 to [`tactus_time::MAX_CORES`].
    pub cores: usize,
    /// The policy and its parameters.
    pub kind: PolicySpec,
    /// The tasks; a [`TaskId`] is an index into this.
    pub tasks: Vec<Task>,
}

/// A priority for each task, in the order of the tasks; the larger goes first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Priorities(pub Vec<u32>);

/// Parameters of MC².
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mc2 {
    /// Whether a task of level A, B or C is held to its budget per period.
    pub enforce: bool,
    /// Whether finished jobs turn into ghosts that let lower levels run early.
    pub slack_shifting: bool,
    /// A further length that is added to every enforced budget alike, beside what each [`Task::budget`] holds already.
    pub allowance: Duration,
    /// The level-A table of each core, in core order.
    pub tables: Vec<Table>,
}

/// MC² with the machinery of its source: a lock for each container and each core.
#[cfg(feature = "mc2-variants")]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FineMc2 {
    /// What is to be scheduled, and how.
    pub mc2: Mc2,
    /// Core 0 serves the releases of all cores.
    pub interrupt_master: bool,
    /// Its timers that expire within a microsecond are one. Needs the master.
    pub timer_merging: bool,
    /// What A and B displace is queued by the master. Needs the master.
    pub work_redistribution: bool,
}

/// A task as the policies see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Task {
    /// Criticality; [`Level::A`] where the policy knows no levels.
    pub level: Level,
    /// The core it is bound to, where the policy is partitioned (for MC²: levels A and B).
    pub core: Option<CoreId>,
    /// Release of the first job.
    pub offset: Duration,
    /// Time from release to release, greater than zero.
    pub period: Duration,
    /// Deadline relative to the release.
    pub deadline: Duration,
    /// Execution time per period at the task's own level, and what the system's work on its behalf may take; enforced by
    /// MC² if it enforces. Zero for level D.
    pub budget: Duration,
}

/// What happened on a core.
///
/// Where several are due on a core at the same time, [`Event::Complete`] comes first: a job that ends in the instant
/// in which its budget or its slot ends is complete, not exhausted. The numbers are those of the reasons of entry in a trace, so that
/// a machine need not translate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Event {
    /// The core starts. Comes once, first, at time zero or soon after.
    Start = 0,
    /// The time-out of the last decision expired. Harmless if it comes without cause.
    Timer = 1,
    /// The running job finished.
    Complete = 2,
    /// Another core's decision named this core in [`Decision::notify`]. Harmless if it comes without cause.
    Notify = 3,
    /// The running task can never run again: its component was stopped. Its pending jobs are dropped, and no more
    /// are released.
    Remove = 4,
    /// Something arrived: what, was told by [`Input::Arrival`]. Harmless if it comes without cause.
    Arrival = 5,
    /// The running job left a critical section for which another job was kept waiting ([`Policy::awaits_unlock`]): what it holds
    /// now, was told by [`Input::Section`]. Harmless if it comes without cause.
    Unlock = 8,
}

/// A fact that a policy is told before the event of its next call. It is recorded, so that a replay repeats it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// The parent scheduler had the core from then on until now.
    Absent {
        /// Until when this scheduler had it.
        since: Instant,
    },
    /// Something arrived that releases a job of a task that time does not release.
    Arrival {
        /// Whose job.
        task: TaskId,
        /// When it arrived; not later than the call.
        at: Instant,
    },
    /// The running job entered one more critical section, or left some.
    Section {
        /// What it holds now.
        held: Sections,
        /// Since when it holds the innermost; without meaning if it left some.
        since: Instant,
    },
    /// The child scheduler that has the core has nothing to run for a while. [`Event::Complete`] of its proxy follows.
    Sleep {
        /// Its proxy.
        proxy: TaskId,
        /// When it will have something; [`Instant::NEVER`] if that is not known.
        until: Instant,
    },
}

/// A job that has a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Running {
    /// Whose job.
    pub task: TaskId,
    /// Which one, counted from 0.
    pub job: u32,
    /// What it has been charged at the time of this decision.
    pub charged: Duration,
    /// Its nominal release, if it is not time that releases the task's jobs: then their numbers do not tell it.
    pub arrived: Option<Instant>,
}

/// What a core is to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The job to run; nothing means idle.
    pub run: Option<Running>,
    /// When to call again with [`Event::Timer`] at the latest; [`Instant::NEVER`] if no time is set.
    pub timer: Instant,
    /// The cores to send an inter-core event to, so that they are called with [`Event::Notify`].
    pub notify: CoreSet,
    /// The order of this decision among all that touched shared state, counted from 1; 0 if it touched none.
    pub ticket: u32,
}

/// The records of one [`Policy::expire`] at most: a release, a preemption, a dispatch.
pub const MOST_RECORDS: usize = 3;

/// A scheduling policy over all cores of a system.
pub trait Policy: Sync {
    /// What belongs to one core.
    type Core: Send;

    /// Whether its jobs may hold resources. Where not, a machine compiles nothing that concerns them.
    const RESOURCES: bool = false;

    /// Handles everything that is due on the core at `now`: the event itself, and all releases (but for what can wait),
    /// exhausted budgets and ends of ghosts up to `now`. Times never go back on one core. Every step is written to `records`.
    fn handle<S: Sink>(&self, core: &mut Self::Core, now: Instant, event: Event, records: &mut S) -> Decision;

    /// Tells a fact that the next call of [`Policy::handle`] on this core is to take into account. A policy that has no use for
    /// it ignores it.
    fn input(&self, _core: &mut Self::Core, _input: Input) {}

    /// Whether a job is kept from the core by critical sections of the job that has it: then [`Event::Unlock`] is to come as soon
    /// as that leaves one.
    #[inline(always)]
    fn awaits_unlock(&self, _core: &Self::Core) -> bool {
        false
    }

    /// The usual end of a time-out, if the policy has a short way for it: decides as [`Policy::handle`] does for
    /// [`Event::Timer`], with at most [`MOST_RECORDS`] records. If it gives nothing, what was recorded does not count, nothing
    /// has changed, and `handle` is to be called.
    #[inline(always)]
    fn expire<S: Sink>(&self, _core: &mut Self::Core, _now: Instant, _records: &mut S) -> Option<Decision> {
        None
    }
}
