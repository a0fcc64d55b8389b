//! A light that goes on and off: a line on the console in each job.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::{Console, Job};

tactus_rt::component! { job: flash, services: [] }

fn flash(job: &Job) {
    let light = if job.number() % 2 == 0 { "on" } else { "off" };
    // A line that the console does not take is lost, and the light goes on.
    let _ = writeln!(Console, "blink 1: {light}");
}
