//! A component that says what is not its to say, one thing in each job.
#![no_std]
#![no_main]

mod attempts;

tactus_rt::component! { job: forge, services: [] }

fn forge(_: &tactus_rt::Job) {
    attempts::make_one();
}
