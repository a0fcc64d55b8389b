//! A version of the program that counts. Hands garbage on, and panics in its third job.
#![no_std]
#![no_main]

mod counting;

use tactus_rt::{grant, Job};

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    counting::count(|| panic!("as it should"));
    let _ = grant("keep").call([1, u64::MAX, u64::MAX, 0, 0]);
}
