//! Two cores: what one sends the other, by brands and by word between the parts of one child scheduler.
//!
//! Core 0 sends, core 1 receives: there a thread of the receiver's runs all the time, less urgent than the upcall that the
//! sender triggers; then the child scheduler `parent` has core 1, and word comes from itself on core 0.
#![no_std]
#![no_main]

mod common;
#[path = "../console.rs"]
mod console;

use common::{card, dispatch, take_events, upcall_of};
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_rt::abi::call::{BrandOperation, Error, SchedulerOperation, IDLE, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::abi::shared::{event, slot};
use tactus_rt::clock::time_stamp;
use tactus_rt::scheduler::OwnRegion;
use tactus_rt::{calls, region_field, Caller};

tactus_rt::component! { upcall: upcall, services: [complete, tell] }

const END: u8 = 0x10;
/// How often the brand is triggered, how often word is sent.
const TRIGGERS: u64 = 200;
const WORDS: u64 = 100;
/// For all of it (ticks): also where the host gives its cores to others most of the time.
const LONG: u64 = 120_000_000_000;

/// Made by core 0: the sender's thread, the receiver's, and whether they are there.
static SENDER: AtomicU64 = AtomicU64::new(0);
static RECEIVER: AtomicU64 = AtomicU64::new(0);
static READY: AtomicU64 = AtomicU64::new(0);
/// The brand, plus one.
static BRAND: AtomicU64 = AtomicU64::new(0);
/// Its upcall thread.
static UPCALL: AtomicU64 = AtomicU64::new(0);
/// What was told: kind by kind how often, and the sum of its figures.
static TOLD: [[AtomicU64; 2]; 8] = [const { [const { AtomicU64::new(0) }; 2] }; 8];
/// The slot of the child's upcall on core 1, and whether the child had nothing to run there when it was told last.
const CHILD_SLOT: usize = 3;
static CHILD_IDLES: AtomicU64 = AtomicU64::new(0);
/// How often core 1 entered the root since the receiver runs.
static ENTERED: AtomicU64 = AtomicU64::new(0);

fn complete(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [1, 0]
}

/// Components tell the root: the brand's number (kind 0), and afterwards what they counted. They are told how far it is: 2
/// when the brand has its upcall.
fn tell(_: Caller, [kind, count, sum, ..]: [u64; 5]) -> [u64; 2] {
    if kind == 0 {
        BRAND.store(count + 1, SeqCst);
    }
    let place = &TOLD[kind as usize % TOLD.len()];
    place[0].store(count, SeqCst);
    place[1].store(sum, SeqCst);
    [READY.load(SeqCst), 0]
}

fn set_up() {
    let _ = calls::scheduler_control(SchedulerOperation::Promote, 0, card("couple").0);
    let _ = calls::scheduler_control(SchedulerOperation::Slot, upcall_of("couple", 1), CHILD_SLOT as u64);
    for (place, core) in [(&SENDER, 0), (&RECEIVER, 1)] {
        match calls::create_thread(card("courier").0, [core, TRIGGERS]) {
            Ok(thread) => place.store(thread, SeqCst),
            Err(_) => calls::give_up(),
        }
    }
    READY.store(1, SeqCst);
}

/// Whether the child has nothing to run on core 1, by what the kernel told last. `CHILD_IDLE` alone does not say: word for the
/// child may have come after it, and both are found together.
fn child_idles() -> bool {
    let (_, flags) = region_field!(1, slots[CHILD_SLOT]).take_link();
    if flags & (slot::IDLE | slot::ACTIVE) != 0 {
        CHILD_IDLES.store(u64::from(flags & slot::IDLE != 0), SeqCst);
    }
    CHILD_IDLES.load(SeqCst) != 0
}

/// Dispatches until it is accepted.
fn go(core: u8, thread: u64, timeout: u64) {
    while dispatch(core, thread, SWITCH_UPCALL_DONE, timeout) == Err(Error::Again) {
        take_events(core);
    }
}

fn upcall(core: u8) -> ! {
    let events = take_events(core);
    let now = time_stamp();
    if events & event::FAULT != 0 {
        let fault = OwnRegion::of(core).fault();
        tell!("core {core}: {fault:x?}");
    }
    if events & event::START != 0 && core == 0 {
        set_up();
    }
    while READY.load(SeqCst) == 0 {
        core::hint::spin_loop();
    }
    if core == 1 {
        receive()
    }
    // The sender asks for its upcall as soon as the brand is there.
    if BRAND.load(SeqCst) != 0 && READY.load(SeqCst) == 1 {
        let brand = BRAND.load(SeqCst) - 1;
        match calls::brand_control(BrandOperation::AddUpcall, brand, 0) {
            Ok(upcall) => {
                UPCALL.store(upcall, SeqCst);
                for (thread, slot, urgency) in [(RECEIVER.load(SeqCst), 1, 10), (upcall, 2, 5)] {
                    region_field!(1, slots[slot].urgency).write(urgency);
                    let _ = calls::scheduler_control(SchedulerOperation::Slot, thread, slot as u64);
                }
            }
            Err(_) => calls::give_up(),
        }
        READY.store(2, SeqCst);
    }
    if TOLD[3][0].load(SeqCst) != 0 || now > tactus_rt::clock::clock().epoch + LONG {
        end();
    }
    let thread = match (TOLD[1][0].load(SeqCst), READY.load(SeqCst)) {
        (0, _) => SENDER.load(SeqCst),
        _ => upcall_of("couple", 0),
    };
    go(core, thread, now + 200_000);
    calls::give_up()
}

/// Core 1: the receiver, until the sender is through; then the child.
fn receive() -> ! {
    ENTERED.fetch_add(u64::from(READY.load(SeqCst) == 2), SeqCst);
    // An upcall that was interrupted by the root's own time-out is the root's to dispatch. Most often there is none.
    let upcall = UPCALL.load(SeqCst);
    if upcall != 0 && TOLD[1][0].load(SeqCst) == 0 {
        go(1, upcall, time_stamp() + 20_000_000);
    }
    loop {
        let poll = time_stamp() + if READY.load(SeqCst) == 2 { 20_000_000 } else { 100_000 };
        let (thread, timeout) = match TOLD[1][0].load(SeqCst) {
            0 => (RECEIVER.load(SeqCst), poll),
            _ if child_idles() => (IDLE, NO_TIMEOUT),
            _ => (upcall_of("couple", 1), poll),
        };
        let _ = dispatch(1, thread, SWITCH_UPCALL_DONE, timeout);
        // Refused: something came meanwhile.
        take_events(1);
    }
}

fn end() -> ! {
    let told = |kind: usize| [0, 1].map(|place| TOLD[kind][place].load(SeqCst));
    let ([sent, _], [ran, late], [words, _], [heard, delay]) = (told(1), told(2), told(3), told(4));
    tell!("remote triggers: {sent} sent, {ran} upcalls ran, {} ticks from one to the other", late / ran.max(1));
    tell!(
        "words of a child to itself: {words} sent, {heard} heard, {} ticks from one to the other",
        delay / heard.max(1)
    );
    tell!("the root was entered {} times on core 1 meanwhile", ENTERED.load(SeqCst));
    tell!("relay: {}", if sent == TRIGGERS && ran == sent && words == WORDS && heard > 0 { "held" } else { "BROKEN" });
    calls::finish(END)
}
