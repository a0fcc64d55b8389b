//! A version of the program that counts. Goes on counting.
#![no_std]
#![no_main]

mod counting;

use tactus_rt::Job;

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    counting::count(|| {});
}
