//! Level 0 for real packets: the driver of a virtio network card. UDP packets to port 9001 are the first stream, to 9002 the
//! second; all others are dropped unseen.
#![no_std]
#![no_main]

mod bins;
mod common;
mod streams;

use common::parameters;
use tactus_packets::{frame, Parameters};
use tactus_rt::virtio::NetworkCard;
use tactus_rt::{grant, Caller, Single};

tactus_rt::component! { thread: set_up, brand: interrupt, services: [attach, start, take] }

/// Packets that the card may hold for us.
const PLACES: usize = 64;

static DEVICE: Single<State> = Single::new();

struct State {
    card: NetworkCard<PLACES>,
    parameters: Parameters,
    /// The brand of the device's own upcall.
    brand: u64,
}

/// Makes everything ready but lets no packet come yet. Comes back only if it cannot; then the component gives up.
fn set_up(_: [u64; 2]) {
    if prepare().is_some() {
        let _ = grant("exit").call([0; 5]);
    }
}

fn prepare() -> Option<()> {
    let parameters = parameters()?;
    let card = NetworkCard::open()?;
    let brand = streams::brand()?;
    DEVICE.fill(State { card, parameters, brand });
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
        let given = (0..PLACES as u16).all(|number| state.card.give(number).is_some());
        // Tells whoever is at the other end that packets may come.
        let given = given && state.card.send(&frame::ready()).is_some();
        (given, state.parameters.line, state.brand)
    });
    [(given && streams::open(line, brand)).into(), 0]
}

/// The card interrupted.
fn interrupt(_: u64) {
    DEVICE.with(|state| {
        let now = streams::interrupted(&state.parameters);
        // The line goes down before the packets are looked at, so that one that comes now raises it again.
        state.card.acknowledge();
        while let Some(stream) = state.card.receive(frame::stream) {
            if let Some(stream) = stream {
                streams::arrived(&state.parameters, stream, now);
            }
        }
        streams::acknowledge(state.brand);
    });
}
