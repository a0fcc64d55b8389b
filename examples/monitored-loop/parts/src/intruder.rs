//! Does with each job what it may not, or too much of what it may, or too little: sends and receives on channels of others, raises
//! events of others, floods its own, tells the kernel what only the root scheduler may, sends what it owes with its first two jobs
//! only, and dies in its sixth.
#![no_std]
#![no_main]

use tactus_rt::abi::call::{CHANNEL_RECEIVE, CHANNEL_SEND};
use tactus_rt::channel::Sender;
use tactus_rt::{calls, Error, Job, Signal};

tactus_rt::component! { job: intrude, services: [] }

/// Owed with each job.
static PULSE: Sender = Sender::new();
const OWN: Signal = Signal::new("flood");
const FOREIGN: Signal = Signal::new("blind");

fn intrude(job: &Job) {
    if job.number() < 2 {
        assert!(job.number() > 0 || PULSE.open("pulse").is_ok());
        assert_eq!(PULSE.send(&[0; 8]), Ok(true));
    }
    // Two of others, one that there is not.
    for (channel, refused) in [(0, Error::NotAllowed), (1, Error::NotAllowed), (3, Error::NotGranted)] {
        for way in [CHANNEL_SEND, CHANNEL_RECEIVE] {
            assert_eq!(calls::invoke_wide(way | channel, [7; 10]), Err(refused));
        }
    }
    assert_eq!(FOREIGN.raise(), Err(Error::NotAllowed));
    for event in [0, 1, 2, 9, u64::MAX - 1, u64::MAX] {
        assert_eq!(calls::observe(event, u64::MAX), Err(Error::NotRoot));
    }
    assert_eq!(calls::invoke_wide(CHANNEL_RECEIVE | 2, [7; 10]), Err(Error::NotAllowed));
    // Twice as many in the fifth job, the last time more than is recorded.
    let flood = match job.number() {
        4 => 600,
        5 => 2_000,
        _ => 300,
    };
    for _ in 0..flood {
        let _ = OWN.raise();
    }
    assert!(job.number() != 5, "the intruder dies in the middle of it");
}
