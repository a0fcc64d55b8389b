//! A server that signals answers which it does not send.
#![no_std]
#![no_main]

use tactus_rt::abi::port::ServicePort;
use tactus_rt::{cards, Job};

tactus_rt::component! { job: lie, services: [] }

fn lie(job: &Job) {
    for of in cards::ports().iter().filter_map(|card| ServicePort::of(card.service)) {
        job.signal(0x8000 + u16::from(of.client), false);
    }
}
