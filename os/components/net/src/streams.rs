//! The part that every driver of the study has: queues for the upcalls, by stream or for all, and the brands that are
//! triggered for each packet.
//!
//! The upcall of the device is the only one who puts packets in; upcalls of the protocol take them out by a service and may be
//! interrupted in it at any place.

use crate::bins::bin;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_packets::{service, Counts, Parameters, Queue, Series, STREAMS};
use tactus_rt::abi::call::{source, BrandOperation};
use tactus_rt::spend::count_down;
use tactus_rt::{calls, grant, Caller};

/// What the driver counts.
pub static COUNTS: Counts = Counts::new();
static QUEUES: [Queue; STREAMS] = [const { Queue::new() }; STREAMS];
/// The brands of the protocol's upcalls, by queue.
static BRANDS: [AtomicU64; STREAMS] = [const { AtomicU64::new(u64::MAX) }; STREAMS];

/// The threads of the protocol's upcalls, + 1, by queue. The word of a trigger does not tell the queue: the kernel keeps the last
/// few only.
static UPCALLS: [AtomicU64; STREAMS] = [const { AtomicU64::new(0) }; STREAMS];

/// Makes the brand whose upcalls, in the component that called this one's, serve the queue. Gives its number.
pub fn attach(queue: u64) -> [u64; 2] {
    let Some(stored) = BRANDS.get(queue as usize) else { return [u64::MAX, 0] };
    let Ok(brand) = calls::brand_control(BrandOperation::Create, 0, 0) else { return [u64::MAX, 0] };
    stored.store(brand, Relaxed);
    [brand, 0]
}

/// Learns which thread, + 1, serves which queue.
pub fn serve(upcalls: &[u64]) {
    for (stored, thread) in UPCALLS.iter().zip(upcalls) {
        stored.store(*thread, Relaxed);
    }
}

/// Takes a packet out of the queue that the calling upcall serves. Gives 1 and its stream, or 0.
pub fn take(caller: Caller) -> [u64; 2] {
    let thread = u64::from(caller.thread()) + 1;
    let queue = UPCALLS.iter().position(|it| it.load(Relaxed) == thread);
    match queue.and_then(|queue| QUEUES[queue].take()) {
        Some(stream) => [1, stream.into()],
        None => [0; 2],
    }
}

/// A packet of the stream arrived.
pub fn arrived(parameters: &Parameters, stream: usize, now: u64) {
    COUNTS.add(Series::Arrived, stream, now);
    if parameters.driver_work > 0 {
        count_down(parameters.driver_work);
    }
    let queue = if parameters.setup.brand_for_each() { stream } else { 0 };
    if QUEUES[queue].put(stream as u8, parameters.ring) {
        // Refused only if nobody attached to the queue.
        let _ = calls::trigger(BRANDS[queue].load(Relaxed), 0);
    } else {
        COUNTS.add(Series::Dropped, stream, now);
    }
}

/// Makes the brand of the device's own upcall, above everybody. Gives its number.
pub fn brand() -> Option<u64> {
    let brand = calls::brand_control(BrandOperation::Create, 0, 1).ok()?;
    let [_, error] = grant("study").call([service::SUPPLY, brand, service::DEVICE, 0, 0]).ok()?;
    (error == 0).then_some(brand)
}

/// Lets the device interrupt, and looks whether it would have done so already. Not from inside the device's state, which the
/// upcall uses.
pub fn open(line: u64, brand: u64) -> bool {
    calls::brand_control(BrandOperation::Wire, brand, source::LINE | line << 8).is_ok()
        && calls::trigger(brand, 0).is_ok()
}

/// The device interrupted: counts it, and gives the bin for now.
pub fn interrupted(parameters: &Parameters) -> u64 {
    let now = bin(parameters.bin);
    COUNTS.add(Series::Interrupts, 0, now);
    now
}

/// The device may interrupt again.
pub fn acknowledge(brand: u64) {
    // Refused only if the brand is not wired.
    let _ = calls::brand_control(BrandOperation::Acknowledge, brand, 0);
}
