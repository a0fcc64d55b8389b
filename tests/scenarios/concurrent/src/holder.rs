//! Tasks on several cores that change what a resource guards, in steps that nobody else may see.
#![no_std]
#![no_main]

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::Job;

tactus_rt::component! { job: work, services: [] }

/// How often the resource was held: the same in all three, while nobody holds it.
static HELD: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

fn work(job: &Job) {
    for section in 0..4 {
        job.hold(section, || {
            let before = HELD[0].load(Relaxed);
            for count in &HELD {
                assert_eq!(count.load(Relaxed), before, "two have the resource");
                count.store(before + 1, Relaxed);
                (0..50).for_each(|_| spin_loop());
            }
        });
    }
}
