//! Writes lines without pause and much longer than it says, so that it is nearly always inside its console when it is stopped.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::time::Duration;
use tactus_rt::{Console, Job};

tactus_rt::component! { job: chat, services: [] }

fn chat(job: &Job) {
    while job.charged() < Duration::from_millis(200) {
        let _ = writeln!(Console, "chat");
    }
}
