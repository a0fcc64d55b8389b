//! Ends a run of the interrupt study when its time has come.
//!
//! The first thread makes another one above everybody, which sleeps until then.
#![no_std]
#![no_main]

mod common;

use common::parameters;
use tactus_packets::service;
use tactus_packets::service::priority;
use tactus_rt::{grant, info, now};

tactus_rt::component! { thread: begin, services: [] }

/// What the thread is told that sleeps.
const SLEEPER: u64 = 1;

fn begin(words: [u64; 2]) {
    if words[0] == SLEEPER {
        sleep();
        return;
    }
    let own = u64::from(info().component);
    if matches!(grant("create").call([own, priority::CLOCK.into(), SLEEPER, 0, 0]), Ok([_, 0])) {
        let _ = grant("exit").call([0; 5]);
    }
}

/// Comes back only if something is missing; then the component gives up.
fn sleep() {
    let Some(parameters) = parameters() else { return };
    if !matches!(grant("timed").call([0; 5]), Ok([_, 0])) {
        return;
    }
    while let Some(left) = parameters.duration.checked_sub(now().as_nanos()).filter(|&left| left > 0) {
        let set = grant("timeout").call([left, 0, 0, 0, 0]);
        if !matches!(set, Ok([_, 0])) || grant("block").call([0; 5]).is_err() {
            return;
        }
    }
    let _ = grant("study").call([service::END, 0, 0, 0, 0]);
}
