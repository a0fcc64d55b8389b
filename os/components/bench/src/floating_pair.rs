//! As `pair.rs`, in a component with floating point: each job begins with an instruction of that unit.
#![no_std]
#![no_main]

mod next_job;

use tactus_rt::hostile::touch_floating_point;
use tactus_rt::Job;

tactus_rt::component! { job: note, services: [] }

fn note(job: &Job) {
    touch_floating_point();
    next_job::note(job);
}
