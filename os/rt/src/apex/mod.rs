//! The services of ARINC 653 (APEX) behind the traits of the crate `a653rs`, for a component that is a partition.
//!
//! Each process is a task of the system file, of the same name: its releases, priority and core are those that were checked. A process
//! that waits ends its job, and looks again with its next one; so waiting takes no more than the check has counted. A process that has
//! not been started, or that was stopped, ends its jobs at once. Time goes on in the windows of the partition alone.
//!
//! ```ignore
//! tactus_rt::apex_partition!(my::Partition);     // implements a653rs's `Partition<tactus_rt::apex::Apex>`
//! ```
//!
//! What processes share has no locks, so that one that is preempted in the middle keeps nobody up; every object is atomics alone.

mod blackboard;
mod buffer;
#[cfg(feature = "apex-c")]
pub mod c;
mod control;
mod error;
mod event;
mod handler;
mod hypervisor;
mod jobs;
mod mode;
mod partition;
mod pool;
mod ports;
mod process;
mod reports;
mod semaphore;
mod thread;
mod time;

pub use a653rs;
pub use hypervisor::Apex;
pub use partition::run;

/// Makes a component of an APEX partition: the expression is one of a type that implements `a653rs`'s `Partition<Apex>`. Each task of
/// the component is a process; the first job of any of them runs the cold start.
#[macro_export]
macro_rules! apex_partition {
    ($partition:expr) => {
        $crate::component! { job: tactus_apex_job, services: [] }
        fn tactus_apex_job(job: &$crate::Job) {
            fn start() -> ! {
                $crate::apex::a653rs::prelude::PartitionExt::<$crate::apex::Apex>::run($partition)
            }
            $crate::apex::run(job, start)
        }
    };
}
