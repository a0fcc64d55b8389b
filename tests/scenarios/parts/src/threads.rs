//! Two tasks of one component, on two cores, write at the same time: the first tells how much the component has written meanwhile, and how
//! much its own thread.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::counters::{own, own_thread, Counters, Event, Own};
use tactus_rt::{Job, Screen};

tactus_rt::component! { job: count, services: [] }

static WORDS: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

/// Jobs in which the first task has begun to count.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Jobs that the second task has done.
static DONE: AtomicU64 = AtomicU64::new(0);

fn write(number: u64) {
    for word in core::hint::black_box(&WORDS) {
        word.store(number, Relaxed);
    }
}

fn count(job: &Job) {
    if job.task() > 0 {
        // Not before the first has begun to count, whichever is released first.
        while BEGUN.load(Relaxed) <= job.number() {
            core::hint::spin_loop();
        }
        write(job.number());
        DONE.store(job.number() + 1, Relaxed);
        return;
    }
    let (Own::Modelled(mut all), Own::Modelled(mut thread)) = (own(), own_thread()) else {
        panic!("somebody counts, and for this thread");
    };
    for counters in [&mut all, &mut thread] {
        for (channel, event) in [Event::Instructions, Event::Writes].into_iter().enumerate() {
            assert_eq!(counters.configure(channel, event).and_then(|()| counters.start(channel)), Ok(()));
        }
    }
    BEGUN.store(job.number() + 1, Relaxed);
    write(job.number());
    while DONE.load(Relaxed) <= job.number() {
        core::hint::spin_loop();
    }
    let [all, own] = [&all, &thread].map(|counters| counters.read(1).unwrap_or(0));
    // What is between two readings of this counter is one of them, and what puts it away.
    let [first, second] = [(); 2].map(|()| core::hint::black_box(&thread).read(core::hint::black_box(0)).unwrap_or(0));
    let _ =
        writeln!(Screen, "job {}: {all} writes, {own} of the thread, {} for a reading", job.number(), second - first);
}
