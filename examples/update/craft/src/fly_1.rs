//! Version 1 of the controller: the first.
#![no_std]
#![no_main]

use tactus_rt::Job;
use update_craft::{control, Gains};

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    control(Gains { stiffness: 30.0, damping: 9.0 });
}
