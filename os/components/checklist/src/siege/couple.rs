//! A child scheduler on two cores that sends word to itself.
#![no_std]
#![no_main]

mod common;

use common::{dispatch, share, take_events};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_rt::abi::call::{Error, IDLE, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::abi::shared::event;
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, grant};

tactus_rt::component! { upcall: upcall, services: [] }

const WORDS: u64 = 100;

static STAMP: AtomicU64 = AtomicU64::new(0);
static HEARD: AtomicU64 = AtomicU64::new(0);
static DELAY: AtomicU64 = AtomicU64::new(0);
/// The part on core 1 has nothing to do but wait.
static WAITING: AtomicU64 = AtomicU64::new(0);

fn upcall(core: u8) -> ! {
    share();
    if core == 1 {
        loop {
            if take_events(core) & event::NOTIFY != 0 {
                DELAY.fetch_add(time_stamp() - STAMP.load(SeqCst), SeqCst);
                HEARD.fetch_add(1, SeqCst);
            }
            WAITING.store(1, SeqCst);
            let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, NO_TIMEOUT) == Err(Error::Again);
        }
    }
    let tell = grant("tell");
    while WAITING.load(SeqCst) == 0 {
        spin_loop();
    }
    for sent in 0..WORDS {
        STAMP.store(time_stamp(), SeqCst);
        let _ = calls::notify(1);
        while HEARD.load(SeqCst) <= sent {
            spin_loop();
        }
    }
    let _ = tell.call([4, HEARD.load(SeqCst), DELAY.load(SeqCst), 0, 0]);
    let _ = tell.call([3, WORDS, 0, 0, 0]);
    loop {
        spin_loop();
    }
}
