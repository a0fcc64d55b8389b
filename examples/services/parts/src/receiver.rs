//! Takes orders, in an upcall whenever some have come.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::channel::Receiver;
use tactus_rt::{grant, Console};

tactus_rt::component! { thread: set_up, brand: orders_came, services: [] }

static ORDERS: Receiver = Receiver::new();
static COUNT: AtomicU64 = AtomicU64::new(0);
static SUM: AtomicU64 = AtomicU64::new(0);

/// Less urgent than the threads of the example.
const PRIORITY: u64 = 20;

fn set_up(_: [u64; 2]) {
    if let Err(error) = ORDERS.open("orders") {
        let _ = writeln!(Console, "no channel: {error:?}");
        return;
    }
    let brand = ORDERS.listen().unwrap_or(u64::MAX);
    let _ = grant("add_upcall").call([brand, PRIORITY, 0, 0, 0]);
    // What came before.
    let count = take_all();
    let _ = writeln!(Console, "{count} orders waited, then none: {:?}", ORDERS.receive());
    loop {
        let _ = grant("block").call([0; 5]);
    }
}

/// The channel was empty and is not any more.
fn orders_came(_: u64) {
    let count = take_all();
    let _ = writeln!(Console, "woken for {count} orders");
    if COUNT.load(Ordering::Relaxed) == 100 {
        let _ = writeln!(Console, "100 orders, their sum is {}", SUM.load(Ordering::Relaxed));
        let _ = grant("finish").call([0x10, 0, 0, 0, 0]);
    }
}

fn take_all() -> u64 {
    let mut count = 0;
    while let Ok(Some([number, square, ..])) = ORDERS.receive() {
        assert_eq!(number, COUNT.fetch_add(1, Ordering::Relaxed) + 1);
        assert_eq!(square, number * number);
        SUM.fetch_add(number, Ordering::Relaxed);
        count += 1;
    }
    count
}
