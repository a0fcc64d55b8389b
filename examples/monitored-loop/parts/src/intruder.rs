//! Does with each job what it may not, or too much of what it may: sends and receives on channels of others, raises events of others,
//! floods its own, tells the kernel what only the root scheduler may, and dies in its sixth job.
#![no_std]
#![no_main]

use tactus_rt::abi::call::{CHANNEL_RECEIVE, CHANNEL_SEND};
use tactus_rt::{calls, Error, Job, Signal};

tactus_rt::component! { job: intrude, services: [] }

const OWN: Signal = Signal::new("flood");
const FOREIGN: Signal = Signal::new("blind");

fn intrude(job: &Job) {
    for channel in 0..3 {
        let refused = if channel < 2 { Error::NotAllowed } else { Error::NotGranted };
        for way in [CHANNEL_SEND, CHANNEL_RECEIVE] {
            assert_eq!(calls::invoke_wide(way | channel, [7; 10]), Err(refused));
        }
    }
    assert_eq!(FOREIGN.raise(), Err(Error::NotAllowed));
    for event in [0, 1, 2, 9, u64::MAX - 1, u64::MAX] {
        assert_eq!(calls::observe(event, u64::MAX), Err(Error::NotRoot));
    }
    // The last time more than is recorded.
    let flood = if job.number() == 5 { 2_000 } else { 300 };
    for _ in 0..flood {
        let _ = OWN.raise();
    }
    assert!(job.number() != 5, "the intruder dies in the middle of it");
}
