//! Whether somebody is there: a node's own data, of no application.
#![no_std]
#![no_main]

use tactus_rt::data::{publish, take, LONGEST};
use tactus_rt::Job;

tactus_rt::component! { job: look, services: [] }

fn look(job: &Job) {
    let _ = publish("presence", &[u8::from(job.number() % 10 < 3)]);
    let mut message = [0; LONGEST];
    while let Ok(Some(_)) = take("presence", &mut message) {}
}
