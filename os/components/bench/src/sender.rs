//! Sends a message in each job: when it did so.
#![no_std]
#![no_main]

use tactus_bench_book::{begin, Series};
use tactus_rt::channel::Sender;
use tactus_rt::clock::time_stamp;
use tactus_rt::Job;

tactus_rt::component! { job: send, services: [] }

static MESSAGES: Sender = Sender::new();

fn send(job: &Job) {
    if job.number() == 0 && MESSAGES.open("messages").is_err() {
        panic!("there is no channel");
    }
    begin(Series::Received);
    if MESSAGES.send(&[time_stamp(), 0, 0, 0, 0, 0, 0, 0]).is_err() {
        panic!("the message was not sent");
    }
}
