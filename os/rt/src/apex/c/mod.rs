//! The same services for partitions in C: what `os/rt/include/apex.h` declares, which `tests/house` makes from `types` and `services`
//! and compares (`cargo test -p tactus-house header -- --ignored` writes it anew).
//!
//! Names are those of the standard, which is also where each type and service is told about. A partition begins in `int main(void)`.

// What only C reads is dead in Rust.
#![allow(dead_code, non_camel_case_types, non_snake_case, missing_docs)]

mod services;
mod types;

use super::hypervisor::Apex;
use crate::Job;
use a653rs::bindings::ApexPartitionP4;

extern "C" {
    /// Written in C.
    fn main() -> core::ffi::c_int;
}

/// Runs a component's jobs as those of a partition that starts in C's `main`; see [`apex_c_partition!`](crate::apex_c_partition).
pub fn run(job: &Job) -> ! {
    super::run(job, start)
}

fn start() -> ! {
    // SAFETY: the header's `main`, which takes nothing; its thread has the stack to itself.
    let told = unsafe { main() };
    let mode = Apex::get_partition_status().operating_mode;
    panic!("`main` has come back with {told} in mode {mode:?}; its last call is SET_PARTITION_MODE(NORMAL, …)")
}

/// Makes a component of a partition that is written in C, which the component's build script compiles and links.
#[macro_export]
macro_rules! apex_c_partition {
    () => {
        $crate::component! { job: tactus_apex_job, services: [] }
        fn tactus_apex_job(job: &$crate::Job) {
            $crate::apex::c::run(job)
        }
    };
}
