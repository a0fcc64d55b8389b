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

mod call;
mod check;
mod clustered;
mod codec;
mod config;
mod cores;
mod error;
mod groups;
mod heap;
mod jobs;
mod list;
mod mc2;
mod mixed;
mod parameters;
mod partitioned;
pub mod parts;
pub mod programs;
mod reconfigure;
mod records;
mod releases;
mod scheduler;
mod tickets;
mod tree;

pub use call::{Decision, Event, Input, Policy, ResourceSet, Running, SlotAction, MOST_RECORDS};
pub use codec::DecodeError;
pub use config::{PolicyConfig, PolicySpec, Task};
pub use error::PolicyConfigError;
pub use list::Named;
pub use mc2::{Mc2, Mc2Now};
pub use mixed::{Dual, DualNow, Mixed, MixedOrder};
pub use parameters::{Clusters, Priorities};
pub use reconfigure::{Action, Alteration, Change, Part, Protocol, Reconfigurable, Values};
pub use scheduler::{CoreState, Scheduler, Visitor};
pub use tactus_task::{
    Burst, EarlyArrival, EventCall, EventRight, EventRule, Overrun, Release, ReleaseInstants, ResourceProtocol,
    SampledEvent, ScheduleSwitch, Sections, ServerKind, Slot, Table, TaskOrder, Window,
};
pub use tree::{
    divide, Budget, Child, DivideError, Partitions, ReconfigurableTree, Resource, ResourceTree, ResourceUser, Sampler,
    SchedulerPlan, Server, SlotTasks, Supply, TaskPlacement, Tree, MAX_ARRIVALS, MAX_DEPTH, MAX_REPLENISHMENTS,
    MAX_WAITING_ARRIVALS,
};
