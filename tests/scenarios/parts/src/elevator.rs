//! Reads by the ports that it has, and gives up if something is not as it should be: `attitude`, with what reading takes; `storm`, where
//! no message may be in pieces; `orders`, which come in their order. At the end it tells what it has seen.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::clock::time_stamp;
use tactus_rt::port::{PortError, QueuingDestination, SamplingDestination, SamplingSource};
use tactus_rt::time::Duration;
use tactus_rt::{Console, Job};

tactus_rt::component! { job: work, services: [] }

/// What reading took at least (ticks).
static LEAST: AtomicU64 = AtomicU64::new(u64::MAX);
/// The last order, how many came, and how often they began anew.
static LAST: AtomicU64 = AtomicU64::new(0);
static ORDERS: AtomicU64 = AtomicU64::new(0);
static ANEW: AtomicU64 = AtomicU64::new(0);
/// Distinct messages of the storm, and reads that were given up.
static SEEN: AtomicU64 = AtomicU64::new(0);
static GIVEN_UP: AtomicU64 = AtomicU64::new(0);
static NEWEST: AtomicU64 = AtomicU64::new(0);

fn word(message: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(message[at * 8..][..8].try_into().expect("eight bytes"))
}

fn work(job: &Job) {
    let mut message = [0; 64];
    let mut written = 0;
    if let Ok(port) = SamplingDestination::open("attitude") {
        assert!(SamplingSource::open("attitude").is_err() && QueuingDestination::open("attitude").is_err());
        let begin = time_stamp();
        let sample = port.read(&mut message);
        let took = time_stamp() - begin;
        if let Ok(Some(sample)) = sample {
            assert_eq!(sample.length, 64);
            // The source is released 5 ms before; a message of its period before is no longer valid.
            assert!(sample.valid);
            LEAST.fetch_min(took, Ordering::Relaxed);
            written = word(&message, 0);
            assert_eq!(port.read(&mut [0; 8]), Err(PortError::TooLong));
        }
    }
    if let Ok(port) = SamplingDestination::open("storm") {
        while job.charged() < Duration::from_micros(800) {
            match port.read(&mut message) {
                Ok(Some(sample)) => {
                    assert_eq!(sample.length, 64);
                    let first = word(&message, 0);
                    assert!((1..8).all(|at| word(&message, at) == first), "a message in pieces");
                    let before = NEWEST.swap(first, Ordering::Relaxed);
                    assert!(before <= first, "an older message after a newer one");
                    SEEN.fetch_add(u64::from(before != first), Ordering::Relaxed);
                }
                Ok(None) => {}
                Err(_) => {
                    GIVEN_UP.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
    if let Ok(port) = QueuingDestination::open("orders") {
        while let Some(length) = port.receive(&mut message).expect("a whole message") {
            assert_eq!(length, 8);
            let number = word(&message, 0);
            match (number, LAST.swap(number, Ordering::Relaxed)) {
                (1, last) if last > 0 => {
                    ANEW.fetch_add(1, Ordering::Relaxed);
                }
                (number, last) => assert_eq!(number, last + 1),
            }
            ORDERS.fetch_add(1, Ordering::Relaxed);
        }
    }
    if job.number() == 18 {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let _ = writeln!(Console, "write {written} read {}", of(&LEAST));
        let _ = writeln!(Console, "storm {} given up {}", of(&SEEN), of(&GIVEN_UP));
        let _ = writeln!(Console, "orders {} anew {}", of(&ORDERS), of(&ANEW));
    }
}
