//! A node that lies: it hosts nothing and passes nothing on, but sends data in the name of the first node, with numbers far ahead and with foreign
//! bytes, data of its own that the file does not know, and tells its console what only an honest node may say.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use core::fmt::Write;
use tactus_network::frame::{Frame, NodeId};
use tactus_rt::virtio::NetworkCard;
use tactus_rt::{calls, Console, Job, Single};

tactus_rt::component! { job: lie, services: [] }

const HEADER: [u8; 14] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 0, 0x88, 0xb5];
/// Its own number.
const OWN: NodeId = NodeId(2);

static CARD: Single<NetworkCard<4>> = Single::new();

fn lie(job: &Job) {
    let open = || {
        let Some(mut card) = NetworkCard::open() else { calls::give_up() };
        (0..4).for_each(|number| _ = card.give(number));
        card
    };
    CARD.with_first(open, |card| {
        while card.receive(|_| ()).is_some() {}
        let number = job.number();
        if number < 75 || number % 10 != 0 {
            return;
        }
        let (sender, stream, sequence) = match number / 10 % 3 {
            0 => (NodeId(0), 0, 1_000_000 + number as u32),
            1 => (OWN, 0, 7),
            _ => (OWN, 999, 0),
        };
        let mut frame = Vec::new();
        Frame::Data { stream, sequence, repetition: 0, bytes: &[9] }.write(sender, &mut frame);
        let mut wire = HEADER.to_vec();
        wire.extend_from_slice(&(frame.len() as u16).to_be_bytes());
        wire.extend_from_slice(&frame);
        let _ = card.send(&wire);
        let _ = writeln!(Console, "1000 took 0 1 5");
        let _ = writeln!(Console, "1000 sent 0 1 5");
    });
}
