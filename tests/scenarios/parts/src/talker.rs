//! Prints a line in each job, and in job 3 reads behind the end of a table.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::hint::black_box;
use tactus_rt::{Console, Job};

tactus_rt::component! { job: talk, services: [] }

const TABLE: [u64; 3] = [7, 8, 9];

fn talk(job: &Job) {
    let number = black_box(job.number() as usize);
    assert!(writeln!(Console, "job {number} says {}", TABLE[number]).is_ok());
}
