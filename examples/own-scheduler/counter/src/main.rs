//! Two threads that count, and a job that looks whether both got equally far.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::{calls, grant, info, Job};

tactus_rt::component! { job: watch, thread: count, services: [] }

static COUNTS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// The scheduler makes the first thread, and that one the second; then both count.
fn count([number, _]: [u64; 2]) {
    if number == 0 {
        let _ = grant("create").call([info().component.into(), 0, 1, 0, 0]);
    }
    loop {
        COUNTS[number as usize % 2].fetch_add(1, Relaxed);
    }
}

fn watch(_: &Job) {
    let _ = grant("timed").call([0; 5]);
    let _ = grant("timeout").call([100_000_000, 0, 0, 0, 0]);
    let _ = grant("block").call([0; 5]);
    let [one, two] = COUNTS.each_ref().map(|count| count.load(Relaxed));
    let fair = one > 0 && one.abs_diff(two) < one / 20;
    calls::text(if fair { "verdict: both got equally far\n" } else { "verdict: one got farther\n" });
    let _ = grant("end").call([if fair { 0x10 } else { 0x11 }, 0, 0, 0, 0]);
}
