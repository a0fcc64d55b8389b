//! Sends a hundred orders, faster than they are taken, and tells what each took.
#![no_std]
#![no_main]

use core::fmt::Write;
use tactus_rt::channel::{ChannelError, Sender};
use tactus_rt::clock::time_stamp;
use tactus_rt::{grant, Console};

tactus_rt::component! { thread: run, services: [] }

static ORDERS: Sender = Sender::new();

fn run(_: [u64; 2]) {
    let (mut full, mut took) = (0, [u64::MAX; 100]);
    if let Err(error) = ORDERS.open("orders") {
        let _ = writeln!(Console, "no channel: {error:?}");
        return;
    }
    for number in 1..=100 {
        loop {
            let begin = time_stamp();
            let sent = ORDERS.send(&[number, number * number, 0, 0, 0, 0, 0, 0]);
            took[number as usize - 1] = time_stamp() - begin;
            match sent {
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
    took.sort_unstable();
    let _ = writeln!(Console, "a send took {} ticks, 95 of 100 at most {}", took[0], took[94]);
    loop {
        let _ = grant("sleep").call([1_000_000_000, 0, 0, 0, 0]);
    }
}
