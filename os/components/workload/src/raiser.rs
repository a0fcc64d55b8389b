//! Raises events that release other tasks, for the comparison of machine and simulator: in job n the event e once, twice or not at all, as
//! a function of n and e alone. Some come too early, and several at once.
#![no_std]
#![no_main]

use tactus_rt::{grant, Job};

tactus_rt::component! { job: raise, services: [] }

/// More events than a component raises.
const EVENTS: u64 = 32;

fn raise(job: &Job) {
    let service = grant("raise");
    for event in 0..EVENTS {
        // A splitmix step.
        let mixed = (job.number() << 8 | event).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 60;
        let times = match mixed {
            0..4 => 1,
            4 => 3,
            _ => 0,
        };
        for _ in 0..times {
            if service.call([event, 0, 0, 0, 0]) == Ok([2, 0]) {
                return;
            }
        }
    }
}
