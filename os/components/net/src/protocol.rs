//! Protocol work of the interrupt study: an upcall for each packet, and a mailbox for each task.
//!
//! Its one task sets everything up and leaves. From then on only upcalls begin here, and tasks come in for their packets.
#![no_std]
#![no_main]

mod common;
mod work;

use common::{ask, bin, parameters};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_packets::{service, Counts, Queue, Series, STREAMS};
use tactus_rt::abi::shared::name_text;
use tactus_rt::{calls, grant, info, Caller, Job};
use work::work;

tactus_rt::component! { job: set_up, brand: upcall, services: [first, second] }

/// The driver's service that gives a packet: the first in `uses` of the system file. An upcall has no time to search.
const TAKE: u64 = 1;

static COUNTS: Counts = Counts::new();
static MAILBOXES: [Queue; STREAMS] = [const { Queue::new() }; STREAMS];
/// Whether the task waits for a packet.
static WAITS: [AtomicBool; STREAMS] = [const { AtomicBool::new(false) }; STREAMS];
static WORK: AtomicU64 = AtomicU64::new(2);
static PLACES: AtomicU64 = AtomicU64::new(0);
static BIN: AtomicU64 = AtomicU64::new(0);

fn set_up(_: &Job) {
    if prepare().is_none() {
        calls::give_up();
    }
    let _ = ask(service::LEAVE, 0, 0);
}

fn prepare() -> Option<()> {
    if name_text(&info().grants[TAKE as usize]) != "take" {
        return None;
    }
    let parameters = parameters()?;
    WORK.store(parameters.upcall_work, Relaxed);
    PLACES.store(parameters.mailbox, Relaxed);
    BIN.store(parameters.bin, Relaxed);
    let queues = if parameters.setup.brand_for_each() { STREAMS } else { 1 };
    for queue in 0..queues as u64 {
        let [brand, _] = grant("attach").call([queue, 0, 0, 0, 0]).ok()?;
        ask(service::SUPPLY, brand, service::rank::STREAM + queue).ok()?;
    }
    let [started, _] = grant("start").call([0; 5]).ok()?;
    (started == 1).then_some(())
}

/// One packet of the queue.
fn upcall(queue: u64) {
    let Ok([1, stream]) = calls::invoke(TAKE, [queue, 0, 0, 0, 0]) else { return };
    let stream = stream as usize % STREAMS;
    work(WORK.load(Relaxed));
    let bin = bin(BIN.load(Relaxed));
    COUNTS.add(Series::Upcalls, stream, bin);
    if !MAILBOXES[stream].put(stream as u8, PLACES.load(Relaxed)) {
        COUNTS.add(Series::Refused, stream, bin);
    } else if WAITS[stream].swap(false, Relaxed) {
        let _ = ask(service::WAKE, stream as u64, 0);
    }
}

/// `()`: the next packet of the first stream; the task waits until there is one.
fn first(_: Caller, _: [u64; 5]) -> [u64; 2] {
    receive(0)
}

/// As [`first`], of the second stream.
fn second(_: Caller, _: [u64; 5]) -> [u64; 2] {
    receive(1)
}

fn receive(stream: usize) -> [u64; 2] {
    loop {
        if let Some(packet) = MAILBOXES[stream].take() {
            return [packet.into(), 0];
        }
        WAITS[stream].store(true, Relaxed);
        // A packet may have come before the upcall could see that somebody waits.
        if let Some(packet) = MAILBOXES[stream].take() {
            WAITS[stream].store(false, Relaxed);
            return [packet.into(), 0];
        }
        let _ = ask(service::BLOCK, 0, 0);
    }
}
