//! How bright it is: published in each job where the network file says so, and taken everywhere else.
#![no_std]
#![no_main]

use tactus_rt::data::{publish, take, LONGEST};
use tactus_rt::Job;

tactus_rt::component! { job: level, services: [] }

fn level(job: &Job) {
    // Where nothing of it is published, or received, the call says so and nothing happens.
    let _ = publish("level", &(job.number() % 100).to_le_bytes());
    let mut message = [0; LONGEST];
    while let Ok(Some(_)) = take("level", &mut message) {}
}
