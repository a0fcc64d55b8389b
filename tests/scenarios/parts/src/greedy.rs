//! A client that asks as often as it is let, all the time that its jobs have, and asks what is too long.
#![no_std]
#![no_main]

use tactus_rt::port::PortError;
use tactus_rt::request::ServiceClient;
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: want, services: [] }

static STORAGE: ServiceClient = ServiceClient::new("storage");

fn want(job: &Job) {
    let long = STORAGE.ask(job, &[0; 65]);
    assert!(matches!(long, Err(PortError::TooLong | PortError::Full)));
    let mut answer = [0; 64];
    while job.charged() < Duration::from_millis(18) {
        let _ = STORAGE.ask(job, &job.number().to_le_bytes());
        let _ = STORAGE.answer(job, &mut answer);
    }
}
