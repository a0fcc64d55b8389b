//! Sends a hundred orders, faster than they are taken.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::channel::{ChannelError, Sender};
use tactus_rt::{grant, Console};

tactus_rt::component! { thread: run, services: [] }

static ORDERS: Sender = Sender::new();

fn run(_: [u64; 2]) {
    let mut full = 0;
    if let Err(error) = ORDERS.open("orders") {
        let _ = writeln!(Console, "no channel: {error:?}");
        return;
    }
    for number in 1..=100 {
        loop {
            match ORDERS.send(&[number, number * number, 0, 0, 0, 0, 0, 0]) {
                Ok(true) => {
                    // Nobody may listen yet: whoever comes later looks first.
                    let _ = ORDERS.wake();
                    break;
                }
                Ok(false) => break,
                Err(ChannelError::Full) => {
                    full += 1;
                    let _ = grant("sleep").call([1_000_000, 0, 0, 0, 0]);
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    let _ = writeln!(Console, "sent 100 orders, the channel was full {full} times");
    loop {
        let _ = grant("sleep").call([1_000_000_000, 0, 0, 0, 0]);
    }
}
