//! A version of the program that counts. Panics in its third job.
#![no_std]
#![no_main]

mod counting;

use tactus_rt::Job;

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    counting::count(|| panic!("as it should"));
}
