//! Prints without end, so that it is displaced in the middle of a line.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::{Console, Job};

tactus_rt::component! { job: prattle, services: [] }

fn prattle(_: &Job) {
    loop {
        let _ = writeln!(
            Console,
            "a line of this length takes several calls of the kernel, in any of which it can be displaced"
        );
    }
}
