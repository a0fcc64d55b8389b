//! Version 2 of the controller: holds the craft tighter.
#![no_std]
#![no_main]

use tactus_rt::Job;
use update_craft::{control, Gains};

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    control(Gains { stiffness: 50.0, damping: 12.0 });
}
