//! Level 0 for real packets: the driver of a virtio network card. UDP packets to port 9001 are the first stream, to 9002 the
//! second; all others are dropped unseen.
#![no_std]
#![no_main]

mod bins;
mod common;
mod streams;
mod work;

use common::parameters;
use streams::Single;
use tactus_packets::{frame, Parameters};
use tactus_rt::virtio::{configuration, memory, Configuration, Memory};
use tactus_rt::{grant, Caller};
use virtio_drivers::device::net::VirtIONetRaw;
use virtio_drivers::transport::pci::bus::{DeviceFunction, PciRoot};
use virtio_drivers::transport::pci::PciTransport;

tactus_rt::component! { thread: set_up, brand: interrupt, services: [attach, start, take] }

/// Packets that the card may hold for us.
const PLACES: usize = 64;
/// Bytes of a buffer for one.
const BUFFER: usize = 2048;
/// The buffer for what is sent comes after those for packets.
const SENT: usize = PLACES;

static DEVICE: Single<State> = Single::new();

struct State {
    card: VirtIONetRaw<Memory, PciTransport, PLACES>,
    /// Which buffer the card was given under which number.
    given: [u16; PLACES],
    parameters: Parameters,
    /// The brand of the device's own upcall.
    brand: u64,
}

impl State {
    /// Gives the card a buffer to fill.
    fn give(&mut self, number: u16) -> Option<()> {
        let buffer = memory::buffer(usize::from(number), BUFFER)?;
        // SAFETY: the buffer is not used again before `receive_complete` of the same number.
        let token = unsafe { self.card.receive_begin(buffer) }.ok()?;
        *self.given.get_mut(usize::from(token))? = number;
        Some(())
    }

    /// Tells whoever is at the other end that packets may come.
    fn announce(&mut self) -> Option<()> {
        let buffer = memory::buffer(SENT, BUFFER)?;
        let head = self.card.fill_buffer_header(buffer).ok()?;
        let end = head + frame::BYTES;
        buffer.get_mut(head..end)?.copy_from_slice(&frame::ready());
        // SAFETY: the buffer is for this one frame and is never used again.
        unsafe { self.card.transmit_begin(buffer.get(..end)?) }.ok().map(|_| ())
    }

    /// Takes the next packet that came: its stream, if it is of one.
    fn next(&mut self) -> Option<Option<usize>> {
        let token = self.card.poll_receive()?;
        let number = *self.given.get(usize::from(token))?;
        let buffer = memory::buffer(usize::from(number), BUFFER)?;
        // SAFETY: the buffer that was given under this number.
        let (head, length) = unsafe { self.card.receive_complete(token, buffer) }.ok()?;
        let stream = buffer.get(head..head + length).and_then(frame::stream);
        self.give(number)?;
        Some(stream)
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
    let card = configuration::card()?;
    memory::begin(card, (PLACES + 1) * BUFFER);
    let mut root = PciRoot::new(Configuration::new(card));
    let place = DeviceFunction { bus: 0, device: 0, function: 0 };
    let transport = PciTransport::new::<Memory, _>(&mut root, place).ok()?;
    let mut card = VirtIONetRaw::new(transport).ok()?;
    card.enable_interrupts();
    let brand = streams::brand()?;
    DEVICE.fill(State { card, given: [0; PLACES], parameters, brand });
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

/// `(the thread of each queue's upcall, + 1)`: packets may come. Gives 1 if the card has all its buffers, may interrupt, and has told so.
// The frame that tells it stays in the card's ring: nothing else is sent.
fn start(_: Caller, upcalls: [u64; 5]) -> [u64; 2] {
    streams::serve(&upcalls);
    let (given, line, brand) = DEVICE.with(|state| {
        let given = (0..PLACES as u16).all(|number| state.give(number).is_some()) && state.announce().is_some();
        (given, state.parameters.line, state.brand)
    });
    [(given && streams::open(line, brand)).into(), 0]
}

/// The card interrupted.
fn interrupt(_: u64) {
    DEVICE.with(|state| {
        let now = streams::interrupted(&state.parameters);
        // The line goes down before the packets are looked at, so that one that comes now raises it again.
        let _ = state.card.ack_interrupt();
        while let Some(stream) = state.next() {
            if let Some(stream) = stream {
                streams::arrived(&state.parameters, stream, now);
            }
        }
        streams::acknowledge(state.brand);
    });
}
