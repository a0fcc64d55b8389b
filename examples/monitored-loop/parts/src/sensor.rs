//! Sends a reading with each job.
#![no_std]
#![no_main]

use tactus_rt::channel::{ChannelError, Sender};
use tactus_rt::Job;

tactus_rt::component! { job: sense, services: [] }

static READINGS: Sender = Sender::new();

fn sense(job: &Job) {
    let reading = [job.number(), job.release().as_nanos(), 0, 0, 0, 0, 0, 0];
    if READINGS.send(&reading) == Err(ChannelError::Closed) && READINGS.open("readings").is_ok() {
        let _ = READINGS.send(&reading);
    }
}
