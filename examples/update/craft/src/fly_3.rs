//! Version 3 of the controller: looks like the second one and panics in its sixth job.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};
use tactus_rt::Job;
use update_craft::{control, Gains};

tactus_rt::component! { job: job, services: [] }

/// Jobs of this version.
static JOBS: AtomicU32 = AtomicU32::new(0);

fn job(_: &Job) {
    control(Gains { stiffness: 50.0, damping: 12.0 });
    assert!(JOBS.fetch_add(1, Ordering::Relaxed) < 5, "what no test had found");
}
