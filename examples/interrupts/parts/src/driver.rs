//! Level 0: two streams of packets, told apart at each interrupt. A high precision event timer (IA-PC HPET specification 1.0a) stands for
//! the network card.
#![no_std]
#![no_main]

use tactus_rt::{cards, grant, Job};

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
    // Femtoseconds per count.
    let count = register(CAPABILITIES, None) >> 32;
    assert!(count > 0 && count <= 100_000_000, "there is no such timer");
    register(CONFIGURATION, Some(0));
    register(COUNTER, Some(0));
    // By edges, enabled, periodic, and the next write sets the first one.
    register(TIMER, Some(1 << 2 | 1 << 3 | 1 << 6 | LINE << 9));
    register(COMPARATOR, Some(1_000_000_000_000_000 / RATE / count));
    register(CONFIGURATION, Some(1));
}

/// Writes a register, if there is a value; gives what it then is.
fn register(offset: u64, value: Option<u64>) -> u64 {
    let Some(card) = cards::devices().first() else { panic!("there is no device") };
    let at = (card.address + offset) as *mut u64;
    // SAFETY: the device's registers, which the system file gives this component.
    unsafe {
        if let Some(value) = value {
            at.write_volatile(value);
        }
        at.read_volatile()
    }
}
