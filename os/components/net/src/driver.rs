//! Level 0 of the interrupt study: the driver of the packet source, a timer. It tells the streams apart, queues packets and
//! triggers the brand whose upcall does the protocol work.
#![no_std]
#![no_main]

mod bins;
mod common;
mod streams;

use common::parameters;
use tactus_packets::timer::{Registers, Timer};
use tactus_packets::{Parameters, Wire};
use tactus_rt::{device, grant, Caller, Single};

tactus_rt::component! { thread: set_up, brand: interrupt, services: [attach, start, take] }

/// Counts in which the comparator is surely written, so that the counter has not passed what is written.
const SOON: u64 = 100;

static DEVICE: Single<State> = Single::new();

struct State {
    timer: Timer<Window>,
    wire: Wire,
    parameters: Parameters,
    /// Counts between two interrupts at least.
    moderation: u64,
    /// The brand of the device's own upcall.
    brand: u64,
}

/// The device's registers, mapped into this component alone.
struct Window;

impl Registers for Window {
    fn read(&self, offset: u64) -> u64 {
        device::Registers::of(0).read(offset)
    }
    fn write(&self, offset: u64, value: u64) {
        device::Registers::of(0).write(offset, value);
    }
}

/// Makes everything ready but lets no packet come yet. Comes back only if it cannot; then the component gives up.
fn set_up(_: [u64; 2]) {
    if prepare().is_some() {
        let _ = grant("exit").call([0; 5]);
    }
}

fn prepare() -> Option<()> {
    let parameters = parameters()?;
    let timer = Timer::find(Window, parameters.line as u32).ok()?;
    let brand = streams::brand()?;
    let wire = Wire::new(parameters.rates, 0, timer.frequency(), parameters.seed);
    let moderation = parameters.moderation * (timer.frequency() / 1_000_000) / 1_000;
    DEVICE.fill(State { timer, wire, parameters, moderation, brand });
    Some(())
}

/// `(queue)`: see [`streams::attach`].
fn attach(_: Caller, words: [u64; 5]) -> [u64; 2] {
    streams::attach(words[0])
}

/// `()`: see [`streams::take`].
fn take(caller: Caller, _: [u64; 5]) -> [u64; 2] {
    streams::take(caller)
}

/// `(the thread of each queue's upcall, + 1)`: packets may come. Gives 1 if the device may interrupt.
fn start(_: Caller, upcalls: [u64; 5]) -> [u64; 2] {
    streams::serve(&upcalls);
    let (line, brand) = DEVICE.with(|state| {
        state.timer.start(state.wire.next());
        (state.parameters.line, state.brand)
    });
    [streams::open(line, brand).into(), 0]
}

/// The device interrupted.
fn interrupt(_: u64) {
    DEVICE.with(|state| {
        let State { timer, wire, parameters, moderation, brand } = state;
        let now = streams::interrupted(parameters);
        let count = timer.now();
        while let Some(stream) = wire.take(count) {
            streams::arrived(parameters, stream, now);
        }
        // Before the next interrupt is set: an edge that finds the line masked is lost.
        streams::acknowledge(*brand);
        // In the future even if this upcall was interrupted since it looked.
        timer.interrupt_at(wire.next().max(count + *moderation).max(timer.now() + SOON));
    });
}
