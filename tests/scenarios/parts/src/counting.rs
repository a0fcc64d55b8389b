//! Reads the counters of its own accesses: what they count is what it does, and reading is short.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::counters::{own, Counters, Event, Own, Refused};
use tactus_rt::{Job, Screen};

tactus_rt::component! { job: count, services: [] }

/// A line of a cache each.
#[repr(align(64))]
struct Line(AtomicU64);

static LINES: [Line; 1024] = [const { Line(AtomicU64::new(0)) }; 1024];

fn count(job: &Job) {
    let Own::Modelled(mut counters) = own() else {
        assert_eq!(own().counters().read(0), Err(Refused::NoCounters));
        say(job, [0, 0, 0, 0]);
        return;
    };
    let events = [Event::Instructions, Event::Writes, Event::SharedMisses, Event::Changed];
    for (channel, event) in events.into_iter().enumerate() {
        assert_eq!(counters.configure(channel, event), Ok(()));
        assert_eq!(counters.start(channel), Ok(()));
    }
    for line in core::hint::black_box(&LINES) {
        line.0.store(job.number(), Relaxed);
    }
    let counted = [1, 2, 3].map(|channel| counters.read(channel).unwrap_or(u64::MAX));
    // What is between two readings of this counter is one of them, and what puts it away.
    let [first, second] =
        [(); 2].map(|()| core::hint::black_box(&counters).read(core::hint::black_box(0)).unwrap_or(0));
    say(job, [counted[0], counted[1], counted[2], second - first]);
}

/// Tells the console in one line.
fn say(job: &Job, [writes, misses, changed, reading]: [u64; 4]) {
    let _ = writeln!(
        Screen,
        "job {}: {writes} writes, {misses} from memory, {changed} changed, {reading} for a reading",
        job.number()
    );
}
