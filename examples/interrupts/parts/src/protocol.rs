//! Protocol work for each packet, then the task of its stream.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};
use tactus_rt::time::Duration;
use tactus_rt::{grant, Job};

tactus_rt::component! { job: work, services: [] }

/// What a packet takes.
const LENGTH: Duration = Duration::from_micros(480);
/// The first of its tasks, once it is known.
static FIRST: AtomicU32 = AtomicU32::new(u32::MAX);

/// One task works for both streams, which come in turn, or one for each.
fn work(job: &Job) {
    while job.charged() < LENGTH {
        core::hint::spin_loop();
    }
    let first = FIRST.fetch_min(job.task(), Ordering::Relaxed).min(job.task());
    let stream = if job.task() == first { job.number() % 2 } else { 1 };
    let _ = grant("raise").call([stream, 0, 0, 0, 0]);
}
