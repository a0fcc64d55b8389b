//! What a system consists of, said once: how jobs are ordered, what an overrun does, the kinds of servers, the cyclic
//! tables of level A, the windows of partitions, what the system's own work costs, and the features of a system that a test of schedulability may or may not cover. The system file, the policies, the analysis and the judge use
//! these types, so that none of them has to translate another's.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bound;
mod costs;
mod event;
mod feature;
mod loader;
mod order;
mod release;
mod resource;
mod server;
mod steps;
mod table;
mod wait;
mod window;

pub use bound::Bound;
pub use costs::Costs;
pub use event::{EventCall, EventRight, EventRule, JobAction, JobStep, Program};
pub use feature::{Feature, Features};
pub use loader::{LoaderReport, LoaderSteps, SlotFault, SlotLoad, SlotTaskValues, SlotTold, SlotTrial};
pub use order::{KeptNumber, OrderBasis, Overrun, TaskOrder};
pub use release::{Burst, EarlyArrival, Release, ReleaseGuard, ReleaseInstants};
pub use resource::{CriticalSection, ResourceProtocol, Sections};
pub use server::{MostTime, Replenished, SampledEvent, ServerKind, WhenIdle, MOST_LOOKS};
pub use steps::{JobSteps, ServiceSteps};
pub use table::{Slot, Table};
pub use wait::{Wait, WaitLimit};
pub use window::{ScheduleSwitch, Window};
