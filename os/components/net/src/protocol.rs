//! Protocol work of the interrupt study: an upcall for each packet, and a mailbox for each task.
//!
//! Its first thread sets everything up and leaves. From then on only upcalls begin here, and tasks come in for their packets.
#![no_std]
#![no_main]

mod bins;
mod common;

use bins::bin;
use common::parameters;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_packets::{service, Counts, Queue, Series, STREAMS};
use tactus_rt::abi::shared::name_text;
use tactus_rt::spend::count_down;
use tactus_rt::{calls, grant, info, Caller};

tactus_rt::component! { thread: set_up, brand: upcall, services: [first, second] }

/// Services in the order of the system file's `uses`; an upcall has no time to search by name.
const TAKE: u64 = 1;
const WAKE: u64 = 2;
const BLOCK: u64 = 3;

static COUNTS: Counts = Counts::new();
static MAILBOXES: [Queue; STREAMS] = [const { Queue::new() }; STREAMS];
/// The thread that waits for a packet, + 1; 0 if none does.
static WAITS: [AtomicU64; STREAMS] = [const { AtomicU64::new(0) }; STREAMS];
static WORK: AtomicU64 = AtomicU64::new(2);
static PLACES: AtomicU64 = AtomicU64::new(0);
static BIN: AtomicU64 = AtomicU64::new(0);

fn set_up(_: [u64; 2]) {
    if prepare().is_some() {
        let _ = grant("exit").call([0; 5]);
    }
}

fn prepare() -> Option<()> {
    for (place, name) in [(TAKE, "take"), (WAKE, "wake"), (BLOCK, "block")] {
        if name_text(&info().grants[place as usize]) != name {
            return None;
        }
    }
    let parameters = parameters()?;
    WORK.store(parameters.upcall_work, Relaxed);
    PLACES.store(parameters.mailbox, Relaxed);
    BIN.store(parameters.bin, Relaxed);
    let queues = if parameters.setup.brand_for_each() { STREAMS } else { 1 };
    let mut upcalls = [0; 5];
    for (queue, upcall) in upcalls.iter_mut().enumerate().take(queues) {
        let [brand, _] = grant("attach").call([queue as u64, 0, 0, 0, 0]).ok()?;
        let [thread, error] = grant("study").call([service::SUPPLY, brand, queue as u64, 0, 0]).ok()?;
        if error != 0 {
            return None;
        }
        *upcall = thread + 1;
    }
    let [started, _] = grant("start").call(upcalls).ok()?;
    (started == 1).then_some(())
}

/// One packet of the brand's queue, which the driver knows by the calling thread.
fn upcall(_: u64) {
    let Ok([1, stream]) = calls::invoke(TAKE, [0; 5]) else { return };
    let stream = stream as usize % STREAMS;
    count_down(WORK.load(Relaxed));
    let bin = bin(BIN.load(Relaxed));
    COUNTS.add(Series::Upcalls, stream, bin);
    if !MAILBOXES[stream].put(stream as u8, PLACES.load(Relaxed)) {
        COUNTS.add(Series::Refused, stream, bin);
    } else if let Some(thread) = WAITS[stream].swap(0, Relaxed).checked_sub(1) {
        let _ = calls::invoke(WAKE, [thread, 0, 0, 0, 0]);
    }
}

/// `()`: the next packet of the first stream; the task waits until there is one.
fn first(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    receive(caller, 0)
}

/// As [`first`], of the second stream.
fn second(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    receive(caller, 1)
}

fn receive(caller: Caller, stream: usize) -> [u64; 2] {
    loop {
        if let Some(packet) = MAILBOXES[stream].take() {
            return [packet.into(), 0];
        }
        WAITS[stream].store(u64::from(caller.thread()) + 1, Relaxed);
        // A packet may have come before the upcall could see that somebody waits.
        if let Some(packet) = MAILBOXES[stream].take() {
            WAITS[stream].store(0, Relaxed);
            return [packet.into(), 0];
        }
        let _ = calls::invoke(BLOCK, [0; 5]);
    }
}
