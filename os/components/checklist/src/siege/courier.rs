//! Sends triggers from core 0 to a brand on core 1.
#![no_std]
#![no_main]

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_rt::abi::call::{source, BrandOperation};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, grant};

tactus_rt::component! { thread: thread, brand: arrive, services: [] }

static STAMP: AtomicU64 = AtomicU64::new(0);
static RAN: AtomicU64 = AtomicU64::new(0);
static LATE: AtomicU64 = AtomicU64::new(0);

fn arrive(_: u64) {
    LATE.fetch_add(time_stamp() - STAMP.load(SeqCst), SeqCst);
    RAN.fetch_add(1, SeqCst);
}

fn thread([core, triggers]: [u64; 2]) {
    if core == 1 {
        loop {
            spin_loop();
        }
    }
    let tell = grant("tell");
    let Ok(brand) = calls::brand_control(BrandOperation::Create, 0, 1) else { calls::give_up() };
    if calls::brand_control(BrandOperation::Wire, brand, source::REMOTE | 1).is_err() {
        calls::give_up();
    }
    while tell.call([0, brand, 0, 0, 0]) != Ok([2, 0]) {
        spin_loop();
    }
    for sent in 0..triggers {
        STAMP.store(time_stamp(), SeqCst);
        if calls::trigger_remote(1, brand).is_err() || calls::trigger_remote(0, brand).is_ok() {
            calls::give_up();
        }
        while RAN.load(SeqCst) <= sent {
            spin_loop();
        }
    }
    let _ = tell.call([2, RAN.load(SeqCst), LATE.load(SeqCst), 0, 0]);
    let _ = tell.call([1, triggers, 0, 0, 0]);
    loop {
        spin_loop();
    }
}
