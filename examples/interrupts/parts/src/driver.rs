//! Level 0: two streams of packets, told apart at each interrupt. A high precision event timer (IA-PC HPET specification 1.0a) stands for
//! the network card.
#![no_std]
#![no_main]

use tactus_rt::device::Registers;
use tactus_rt::{grant, Job};

tactus_rt::component! { job: receive, services: [] }

/// Packets per second.
const RATE: u64 = 2_000;
/// The line that the system file names.
const LINE: u64 = 20;

const CAPABILITIES: u64 = 0x000;
const CONFIGURATION: u64 = 0x010;
const COUNTER: u64 = 0x0f0;
const TIMER: u64 = 0x100;
const COMPARATOR: u64 = 0x108;

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
    let card = Registers::of(0);
    // Femtoseconds per count.
    let count = card.read(CAPABILITIES) >> 32;
    assert!(count > 0 && count <= 100_000_000, "there is no such timer");
    card.write(CONFIGURATION, 0);
    card.write(COUNTER, 0);
    // By edges, enabled, periodic, and the next write sets the first one.
    card.write(TIMER, 1 << 2 | 1 << 3 | 1 << 6 | LINE << 9);
    card.write(COMPARATOR, 1_000_000_000_000_000 / RATE / count);
    card.write(CONFIGURATION, 1);
}
