//! Makes a command of each estimate, and sends it.
#![no_std]
#![no_main]

use tactus_rt::channel::Sender;
use tactus_rt::{grant, Job};

tactus_rt::component! { job: control, services: [] }

static COMMANDS: Sender = Sender::new();

fn control(job: &Job) {
    if job.number() == 0 && COMMANDS.open("commands").is_err() {
        panic!("there is no channel");
    }
    let Ok([estimate, _]) = grant("estimate").call([0; 5]) else { panic!("the filter does not answer") };
    // The actuator's job may run before this comes back.
    if COMMANDS.send(&[job.number(), estimate / 16, 0, 0, 0, 0, 0, 0]).is_err() {
        panic!("the command was not sent");
    }
}
