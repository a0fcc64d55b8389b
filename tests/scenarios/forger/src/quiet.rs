//! A component that says nothing at all.
#![no_std]
#![no_main]

tactus_rt::component! { job: rest, services: [] }

fn rest(_: &tactus_rt::Job) {}
