//! A version of the program that counts. Never ends its third job.
#![no_std]
#![no_main]

mod counting;

use tactus_rt::Job;

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    counting::count(|| loop { core::hint::spin_loop() });
}
