//! Writes by the ports that it has: `attitude`, once in a job, and tells what that took; `storm`, as often as its time allows; `orders`,
//! three in a job, numbered. It faults in its tenth job if there is a port `fatal`.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::clock::time_stamp;
use tactus_rt::port::{PortError, QueuingSource, SamplingSource};
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: work, services: [] }

/// What writing took at least (ticks).
static LEAST: AtomicU64 = AtomicU64::new(u64::MAX);
/// Orders sent in this life, and jobs begun.
static SENT: AtomicU64 = AtomicU64::new(0);
static JOBS: AtomicU64 = AtomicU64::new(0);

fn work(job: &Job) {
    let mut message = [0; 64];
    if let Ok(port) = SamplingSource::open("attitude") {
        // The message tells what the one before took.
        message.chunks_mut(8).for_each(|word| word.copy_from_slice(&LEAST.load(Ordering::Relaxed).to_le_bytes()));
        let begin = time_stamp();
        let written = port.write(&message);
        let took = time_stamp() - begin;
        assert_eq!(written, Ok(()));
        assert_eq!(port.write(&[0; 65]), Err(PortError::TooLong));
        LEAST.fetch_min(took, Ordering::Relaxed);
    }
    if let Ok(port) = SamplingSource::open("storm") {
        let mut number = job.number() << 32;
        while job.charged() < Duration::from_micros(800) {
            number += 1;
            message.chunks_mut(8).for_each(|word| word.copy_from_slice(&u64::to_le_bytes(number)));
            assert_eq!(port.write(&message), Ok(()));
        }
    }
    if let Ok(port) = QueuingSource::open("orders") {
        for _ in 0..3 {
            let number = SENT.load(Ordering::Relaxed) + 1;
            match port.send(&number.to_le_bytes()) {
                Ok(()) => SENT.store(number, Ordering::Relaxed),
                Err(error) => assert_eq!(error, PortError::Full),
            }
        }
    }
    if JOBS.fetch_add(1, Ordering::Relaxed) == 9 && SamplingSource::open("fatal").is_ok() {
        panic!("as it was told");
    }
}
