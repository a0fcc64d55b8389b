//! Level 0: two streams of packets, told apart at each interrupt. A high precision event timer (IA-PC HPET specification 1.0a) stands for
//! the network card.
#![no_std]
#![no_main]

use tactus_rt::device::{PeriodicTimer, Registers};
use tactus_rt::{grant, Job};

tactus_rt::component! { job: receive, services: [] }

/// From one interrupt to the next (ns).
const PERIOD: u64 = 500_000;
/// The line that the system file names.
const LINE: u64 = 20;
const TIMER: PeriodicTimer = PeriodicTimer::of(Registers::of(0));

/// Streams come in turn. Where the file has a protocol task for each, the second stream's is the second one that this raises.
fn receive(job: &Job) {
    match job.number() {
        0 => set_up(),
        number => {
            let raise = |event: u64| grant("raise").call([event, 0, 0, 0, 0]);
            if raise(number % 2) == Ok([2, 0]) {
                let _ = raise(0);
            }
        }
    }
    job.acknowledge();
}

fn set_up() {
    TIMER.set_up(PERIOD, LINE);
    TIMER.start();
}
