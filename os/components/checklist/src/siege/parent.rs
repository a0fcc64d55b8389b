//! The hostile scheduler's parent: passes on what it gets, and all the threads.
#![no_std]
#![no_main]

mod common;

use common::{card, dispatch, share, take_events, upcall_of};
use tactus_rt::abi::call::{Error, SchedulerOperation, IDLE, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::{calls, info};

tactus_rt::component! { upcall: upcall, services: [] }

fn upcall(core: u8) -> ! {
    share();
    let (number, card) = card("hostile");
    // Refused once it is done, or where another core is at it.
    if calls::scheduler_control(SchedulerOperation::Promote, 0, number).is_ok() {
        for thread in 0..2 * u64::from(info().cores) {
            let thread = u64::from(card.first_spare) + thread;
            let _ = calls::scheduler_control(SchedulerOperation::Grant, thread, number);
        }
    }
    let mut thread = upcall_of("hostile", core);
    loop {
        take_events(core);
        match dispatch(core, thread, SWITCH_UPCALL_DONE, NO_TIMEOUT) {
            Err(Error::Again) => {}
            _ => thread = IDLE,
        }
    }
}
