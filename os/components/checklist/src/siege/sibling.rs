//! The sibling: on each core two threads, the one with the earlier deadline first.
#![no_std]
#![no_main]

mod common;

use common::{card, dispatch, share, take_events};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::call::{Error, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, grant};

tactus_rt::component! { upcall: upcall, thread: thread, services: [] }

/// Deadlines grow by so much with each job, and each job takes so many turns of a loop.
const PERIODS: [u64; 2] = [3, 7];
const TURNS: [u64; 2] = [4_000, 9_000];

static DEADLINES: [[AtomicU64; 2]; 8] = [const { [const { AtomicU64::new(0) }; 2] }; 8];

/// Whoever's deadline is earlier; the first of equals.
fn earliest(core: usize) -> u64 {
    let [one, two] = &DEADLINES[core % DEADLINES.len()];
    u64::from(two.load(Relaxed) < one.load(Relaxed))
}

/// Dispatches whoever it is, unless that is `me`.
fn decide(core: u8, me: u64, flags: u64) {
    let first = u64::from(card("sibling").1.first_spare) + 2 * u64::from(core);
    loop {
        take_events(core);
        let next = earliest(core.into());
        if next == me {
            return;
        }
        match dispatch(core, first + next, flags, NO_TIMEOUT) {
            Err(Error::Again) => {}
            Ok(()) if flags == 0 => return,
            _ => calls::give_up(),
        }
    }
}

fn upcall(core: u8) -> ! {
    share();
    decide(core, u64::MAX, SWITCH_UPCALL_DONE);
    calls::give_up()
}

fn thread([core, me]: [u64; 2]) {
    let note = grant("note");
    for job in 0.. {
        for turn in 0..TURNS[me as usize] {
            core::hint::black_box(turn);
        }
        let _ = note.call([job, time_stamp(), 0, 0, 0]);
        DEADLINES[core as usize % DEADLINES.len()][me as usize].fetch_add(PERIODS[me as usize], Relaxed);
        decide(core as u8, me, 0);
    }
}
