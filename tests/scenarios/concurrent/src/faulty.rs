//! Two tasks of one component on two cores: the first faults in its fifth job of a life, in the middle of the other's.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: work, services: [] }

/// Jobs of the first task in this life, and of the other.
static BEGUN: AtomicU64 = AtomicU64::new(0);
/// What the other one has written in this life.
static TABLE: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];

fn work(job: &Job) {
    if job.task() == 0 {
        assert!(BEGUN.fetch_add(1, Relaxed) < 4);
        return;
    }
    // A life begins with memory as it was at the first.
    let first = TABLE[0].load(Relaxed);
    assert!(TABLE.iter().all(|word| word.load(Relaxed) == first), "memory of two lives");
    while job.charged() < Duration::from_micros(400) {
        TABLE.iter().for_each(|word| word.store(job.number() + 1, Relaxed));
    }
}
