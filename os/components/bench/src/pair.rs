//! Two tasks with equal parameters, whose jobs follow each other.
#![no_std]
#![no_main]

mod next_job;

tactus_rt::component! { job: next_job::note, services: [] }
