//! Level 0 of the interrupt study: the driver of the packet source. It tells the streams apart, queues packets and triggers
//! the brand whose upcall does the protocol work.
//!
//! The upcall of its own brand runs for each interrupt, above everybody. It is the only one who puts packets into the queues;
//! upcalls of the protocol take them out by a service and may be interrupted in it at any place.
#![no_std]
#![no_main]

mod common;

use common::{bin, parameters};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_packets::timer::{Registers, Timer};
use tactus_packets::{service, Counts, Parameters, Queue, Series, Wire, STREAMS};
use tactus_rt::abi::call::{source, BrandOperation};
use tactus_rt::abi::layout::DEVICES;
use tactus_rt::{calls, grant, Caller};

tactus_rt::component! { thread: set_up, brand: interrupt, services: [attach, start, take] }

static COUNTS: Counts = Counts::new();
static QUEUES: [Queue; STREAMS] = [const { Queue::new() }; STREAMS];
/// The brands of the protocol's upcalls, by queue.
static BRANDS: [AtomicU64; STREAMS] = [const { AtomicU64::new(u64::MAX) }; STREAMS];
/// What the upcall needs, once it was set up.
static DEVICE: Device = Device { busy: AtomicBool::new(true), state: UnsafeCell::new(None) };

/// The device's registers, mapped into this component alone.
struct Window;

impl Registers for Window {
    fn read(&self, offset: u64) -> u64 {
        // SAFETY: the image maps the device's page here and nowhere else; `timer` keeps to its registers.
        unsafe { ((DEVICES + offset) as *const u64).read_volatile() }
    }
    fn write(&self, offset: u64, value: u64) {
        // SAFETY: as above.
        unsafe { ((DEVICES + offset) as *mut u64).write_volatile(value) }
    }
}

struct State {
    timer: Timer<Window>,
    wire: Wire,
    parameters: Parameters,
    /// The brand of the device's own upcall.
    brand: u64,
}

/// State that is used by one thread at a time.
struct Device {
    busy: AtomicBool,
    state: UnsafeCell<Option<State>>,
}

// SAFETY: `with` lets in nobody while somebody is inside.
unsafe impl Sync for Device {}

impl Device {
    /// Makes the state usable.
    fn fill(&self, state: State) {
        // SAFETY: `busy` is set from the beginning until here, so that nobody else looks.
        unsafe { *self.state.get() = Some(state) };
        self.busy.store(false, Relaxed);
    }

    fn with(&self, action: impl FnOnce(&mut State)) {
        if self.busy.swap(true, Relaxed) {
            // Two upcalls of the device at once: there is only one thread for it.
            calls::give_up();
        }
        // SAFETY: `busy` was not set, so nobody is inside; it is set now.
        if let Some(state) = unsafe { &mut *self.state.get() } {
            action(state);
        }
        self.busy.store(false, Relaxed);
    }
}

/// `(queue)`: makes the brand whose upcalls, in the caller's component, serve the queue. Gives its number.
fn attach(_: Caller, words: [u64; 5]) -> [u64; 2] {
    let Some(stored) = BRANDS.get(words[0] as usize) else { return [u64::MAX, 0] };
    let Ok(brand) = calls::brand_control(BrandOperation::Create, 0, 0) else { return [u64::MAX, 0] };
    stored.store(brand, Relaxed);
    [brand, 0]
}

/// Makes everything ready but lets no packet come yet.
fn set_up(_: [u64; 2]) {
    if prepare().is_some() {
        let _ = grant("exit").call([0; 5]);
    }
}

fn prepare() -> Option<()> {
    let parameters = parameters()?;
    let timer = Timer::find(Window, parameters.line as u32).ok()?;
    let brand = calls::brand_control(BrandOperation::Create, 0, 1).ok()?;
    let [_, error] = grant("study").call([service::SUPPLY, brand, service::DEVICE, 0, 0]).ok()?;
    if error != 0 {
        return None;
    }
    calls::brand_control(BrandOperation::Wire, brand, source::LINE | parameters.line << 8).ok()?;
    let wire = Wire::new(parameters.rates, 0, timer.frequency(), parameters.seed);
    DEVICE.fill(State { timer, wire, parameters, brand });
    Some(())
}

/// `()`: packets may come. Gives 1.
fn start(_: Caller, _: [u64; 5]) -> [u64; 2] {
    DEVICE.with(|state| {
        let frequency = state.timer.frequency();
        // An interrupt for each packet of the faster stream, but no more often than the moderation allows.
        let fastest = state.parameters.rates.into_iter().max().unwrap_or(0).max(1);
        let least = state.parameters.moderation * (frequency / 1_000_000) / 1_000;
        state.timer.start((frequency / fastest).max(least));
    });
    [1, 0]
}

/// The device interrupted.
fn interrupt(_: u64) {
    DEVICE.with(|state| {
        let State { timer, wire, parameters, brand } = state;
        let bin = bin(parameters.bin);
        COUNTS.add(Series::Interrupts, 0, bin);
        timer.seen();
        let now = timer.now();
        while let Some(stream) = wire.take(now) {
            COUNTS.add(Series::Arrived, stream, bin);
            let queue = if parameters.setup.brand_for_each() { stream } else { 0 };
            if QUEUES[queue].put(stream as u8, parameters.ring) {
                let _ = calls::trigger(BRANDS[queue].load(Relaxed), queue as u64);
            } else {
                COUNTS.add(Series::Dropped, stream, bin);
            }
        }
        let _ = calls::brand_control(BrandOperation::Acknowledge, *brand, 0);
    });
}

/// `(queue)`: takes a packet. Gives 1 and its stream, or 0.
fn take(_: Caller, words: [u64; 5]) -> [u64; 2] {
    match QUEUES.get(words[0] as usize).and_then(Queue::take) {
        Some(stream) => [1, stream.into()],
        None => [0; 2],
    }
}
