//! A version of the program that counts. Calls in its third job what it should not, which a monitor sees.
#![no_std]
#![no_main]

mod counting;

use tactus_rt::{grant, Job};

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    counting::count(|| _ = grant("alarm").call([0; 5]));
}
