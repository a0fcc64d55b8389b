//! A version of the program that counts. Waits in its first job for a state that nobody hands over.
#![no_std]
#![no_main]

use tactus_rt::{grant, Job};

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    while !matches!(grant("keep").call([0; 5]), Ok([u64::MAX, u64::MAX])) {}
}
