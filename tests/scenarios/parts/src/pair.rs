//! Two tasks of one component, on two cores: the first faults in its fifth job of a life, in the middle of the other's.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: work, services: [] }

/// Jobs of the first task begun in this life.
static BEGUN: AtomicU64 = AtomicU64::new(0);

fn work(job: &Job) {
    if job.task() == 0 {
        assert!(BEGUN.fetch_add(1, Ordering::Relaxed) < 4);
        return;
    }
    while job.charged() < Duration::from_millis(4) {
        core::hint::spin_loop();
    }
}
