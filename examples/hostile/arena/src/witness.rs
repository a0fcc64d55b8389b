//! The witness: on each core two threads, the one with the earlier deadline first. Each job looks at a part of the
//! component's memory, and at what it may only read: nobody else may have changed it.
#![no_std]
#![no_main]

mod common;

use common::{card, choose, kind, share, take_events, told};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::call::{Error, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::abi::layout::{CLOCK, COMPONENTS, INFO, PROGRAM};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, grant, info};

tactus_rt::component! { upcall: upcall, thread: thread, services: [] }

/// Deadlines grow by so much with each job, and each job looks at so many words.
const PERIODS: [u64; 2] = [3, 7];
const LOOKS: [usize; 2] = [256, 512];

const WORDS: usize = 8192;
const PAGE_WORDS: usize = 512;

static DEADLINES: [[AtomicU64; 2]; 8] = [const { [const { AtomicU64::new(0) }; 2] }; 8];
/// Each word says where it is; written by the first thread of each core before it begins.
static MEMORY: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
static WRITTEN: AtomicU64 = AtomicU64::new(0);

fn mark(place: usize) -> u64 {
    (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A checksum of pages that nobody may write.
fn read_only() -> u64 {
    let cards = (info().components as usize * size_of::<tactus_rt::abi::shared::ComponentCard>()).div_ceil(4096);
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for (address, pages) in [(INFO, 1), (CLOCK, 1), (COMPONENTS, cards), (PROGRAM, 1)] {
        for place in 0..pages * PAGE_WORDS {
            // SAFETY: pages that the image builder maps into every scheduler, and the program's own first page.
            let word = unsafe { (address as *const u64).add(place).read_volatile() };
            sum = (sum ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }
    sum
}

/// Whoever's deadline is earlier; the first of equals.
fn earliest(core: usize) -> u64 {
    let [one, two] = &DEADLINES[core % DEADLINES.len()];
    u64::from(two.load(Relaxed) < one.load(Relaxed))
}

/// Dispatches whoever it is, unless that is `me`.
///
/// A thread may lose the core between any two steps and come back when others have decided anew. So the choice is made known
/// first and then looked at again: whoever decides in between chooses somebody else, and the old dispatch is refused.
fn decide(core: u8, me: u64, flags: u64) {
    let first = u64::from(card("witness").1.first_spare) + 2 * u64::from(core);
    loop {
        take_events(core);
        let next = earliest(core.into());
        if next == me {
            return;
        }
        choose(core, first + next);
        if earliest(core.into()) != next {
            continue;
        }
        match calls::switch_thread(first + next, flags, NO_TIMEOUT) {
            Err(Error::Again) => {}
            Ok(()) if flags == 0 => {}
            _ => calls::give_up(),
        }
    }
}

fn upcall(core: u8) -> ! {
    if share().is_err() {
        calls::give_up();
    }
    decide(core, u64::MAX, SWITCH_UPCALL_DONE);
    calls::give_up()
}

fn thread([core, me]: [u64; 2]) {
    let tell = grant("tell");
    if WRITTEN.compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
        MEMORY.iter().enumerate().for_each(|(place, word)| word.store(mark(place), Relaxed));
        WRITTEN.store(2, Relaxed);
    }
    while WRITTEN.load(Relaxed) != 2 {
        core::hint::spin_loop();
    }
    let expected = read_only();
    let mut place = 0;
    // What a thread keeps in registers and on its stack must stay as well.
    let mut kept = [core, me, 0, expected];
    for job in 0.. {
        for _ in 0..LOOKS[me as usize] {
            place = (place + 1) % WORDS;
            if MEMORY[place].load(Relaxed) != mark(place) {
                let _ = tell.call(told(kind::BROKEN, 1, place as u64));
            }
        }
        if job % 16 == 0 && read_only() != expected {
            let _ = tell.call(told(kind::BROKEN, 2, 0));
        }
        if core::hint::black_box(&kept) != &[core, me, job, expected] {
            let _ = tell.call(told(kind::BROKEN, 3, job));
        }
        kept[2] = job + 1;
        let _ = tell.call([kind::JOB, job, time_stamp(), 0, 0]);
        DEADLINES[core as usize % DEADLINES.len()][me as usize].fetch_add(PERIODS[me as usize], Relaxed);
        decide(core as u8, me, 0);
    }
}
