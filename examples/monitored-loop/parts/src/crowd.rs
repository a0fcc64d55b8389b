//! Tasks of one component on all cores, each of which raises an event of its own again and again: for monitors that all of them share.
#![no_std]
#![no_main]

use tactus_rt::{Job, Signal};

tactus_rt::component! { job: raise, services: [] }

const EVENTS: [Signal; 8] = [
    Signal::new("s0"),
    Signal::new("s1"),
    Signal::new("s2"),
    Signal::new("s3"),
    Signal::new("s4"),
    Signal::new("s5"),
    Signal::new("s6"),
    Signal::new("s7"),
];

fn raise(job: &Job) {
    let own = EVENTS[job.task() as usize % EVENTS.len()];
    for _ in 0..14 {
        let _ = own.raise();
    }
}
