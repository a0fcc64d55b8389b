//! Sounds when a property was violated: it says which one, by which event, and in which state that found the monitor.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::{Job, Screen, Violation};

tactus_rt::component! { job: sound, services: [] }

fn sound(job: &Job) {
    while let Some(Violation { monitor, event, state }) = job.violation() {
        let _ = writeln!(Screen, "alarm: monitor {monitor}, event {event:?}, state {state}");
    }
}
