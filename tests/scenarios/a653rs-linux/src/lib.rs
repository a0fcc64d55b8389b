//! What partitions that were written for the crate `a653rs-linux` find under its name: its hypervisor, by the services of
//! [`tactus_rt::apex`], and its logger, by the console.
//!
//! Where that hypervisor asks for less than the standard, so does this one: a periodic process of period 0 has that of its task, stacks
//! and messages of more than the standard's or the file's are cut to these, and queuing ports answer at once whatever the time-out.
#![no_std]

extern crate alloc;

#[doc(hidden)]
pub use a653rs;
#[doc(hidden)]
pub use tactus_rt;

pub mod bare;
pub mod partition;

/// Makes a component of the partition, in place of `main`.
#[macro_export]
macro_rules! entry {
    ($partition:expr) => {
        $crate::tactus_rt::component! { job: a653rs_linux_job, services: [] }
        fn a653rs_linux_job(job: &$crate::tactus_rt::Job) {
            fn start() -> ! {
                $crate::partition::start($partition)
            }
            $crate::tactus_rt::apex::run(job, start)
        }
    };
}
