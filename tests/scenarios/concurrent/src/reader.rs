//! Takes the writer's numbers: none may be missing, come twice, or be of two halves; and the newest is never older than before.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_rt::channel::{ChannelError, Receiver};
use tactus_rt::port::{QueuingDestination, SamplingDestination};
use tactus_rt::time::Duration;
use tactus_rt::{Error, Job};

tactus_rt::component! { job: read, services: [] }

static QUEUED: AtomicU64 = AtomicU64::new(0);
static RECEIVED: AtomicU64 = AtomicU64::new(0);
static OPEN: AtomicBool = AtomicBool::new(false);
static SAMPLED: AtomicU64 = AtomicU64::new(0);
static BUFFER: Receiver = Receiver::new();

/// The number of a message, all of whose words are the same.
fn number(bytes: &[u8; 64]) -> u64 {
    let words: [u64; 8] = core::array::from_fn(|n| {
        bytes[8 * n..8 * n + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    });
    assert_eq!(words, [words[0]; 8], "a message of two halves");
    words[0]
}

fn read(job: &Job) {
    let (Ok(queue), Ok(newest)) = (QueuingDestination::open("queue"), SamplingDestination::open("newest")) else {
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
    let mut bytes = [0; 64];
    while job.charged() < Duration::from_micros(700) {
        match queue.receive(&mut bytes) {
            Ok(None) => {}
            Ok(Some(64)) => assert_eq!(number(&bytes), QUEUED.fetch_add(1, Relaxed), "of the queue"),
            other => panic!("the queue gives {other:?}"),
        }
        match BUFFER.receive() {
            Ok(None) => {}
            Ok(Some(words)) => assert_eq!(words, [RECEIVED.fetch_add(1, Relaxed); 8], "of the buffer"),
            Err(error) => panic!("the buffer gives {error:?}"),
        }
        // Where the writer comes again and again in the middle of reading, nothing is read.
        if let Ok(Some(sample)) = newest.read(&mut bytes) {
            assert_eq!(sample.length, 64);
            let number = number(&bytes);
            assert!(SAMPLED.swap(number, Relaxed) <= number, "the newest is older than the one before");
        }
    }
}
