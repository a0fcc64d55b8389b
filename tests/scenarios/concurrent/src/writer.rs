//! Sends numbers as fast as it can: by a queuing channel and by a buffer one after the other, by a sampling channel the newest.
#![no_std]
#![no_main]

use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_rt::channel::{ChannelError, Sender};
use tactus_rt::port::{QueuingSource, SamplingSource};
use tactus_rt::time::Duration;
use tactus_rt::{Error, Job};

tactus_rt::component! { job: write, services: [] }

static QUEUED: AtomicU64 = AtomicU64::new(0);
static SENT: AtomicU64 = AtomicU64::new(0);
static OPEN: AtomicBool = AtomicBool::new(false);
static SAMPLED: AtomicU64 = AtomicU64::new(0);
static BUFFER: Sender = Sender::new();

/// A message of this number, by which each of its words is known.
fn message(number: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&number.to_le_bytes()));
    bytes
}

fn write(job: &Job) {
    let (Ok(queue), Ok(newest)) = (QueuingSource::open("queue"), SamplingSource::open("newest")) else {
        panic!("no channel")
    };
    if !OPEN.load(Relaxed) {
        match BUFFER.open("words") {
            Ok(()) => OPEN.store(true, Relaxed),
            // The host may let the other side stand still at the memory manager for as long as it likes.
            Err(ChannelError::Refused(Error::Busy)) => return,
            Err(error) => panic!("no buffer: {error:?}"),
        }
    }
    while job.charged() < Duration::from_micros(700) {
        let number = QUEUED.load(Relaxed);
        if queue.send(&message(number)).is_ok() {
            QUEUED.store(number + 1, Relaxed);
        }
        let number = SENT.load(Relaxed);
        // Now the reader finds the buffer full, now empty.
        if number & 64 != 0 {
            (0..20).for_each(|_| spin_loop());
        }
        if BUFFER.send(&[number; 8]).is_ok() {
            SENT.store(number + 1, Relaxed);
        }
        let number = SAMPLED.load(Relaxed);
        assert_eq!(newest.write(&message(number)), Ok(()));
        SAMPLED.store(number + 1, Relaxed);
    }
}
