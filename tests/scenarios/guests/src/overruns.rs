//! A version of the program that counts. Takes longer in its third job than it has declared.
#![no_std]
#![no_main]

mod counting;

use tactus_rt::Job;

tactus_rt::component! { job: job, services: [] }

fn job(_: &Job) {
    counting::count(|| (0..300_000).for_each(|_| core::hint::spin_loop()));
}
