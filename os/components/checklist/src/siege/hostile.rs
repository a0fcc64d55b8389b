//! The hostile scheduler: never yields, and does with the kernel's calls, and with its own regions, what it likes.
#![no_std]
#![no_main]

mod common;

use common::{share, Mode};
use tactus_rt::abi::call::{source, BrandOperation, Call};
use tactus_rt::abi::layout::REGION_STRIDE;
use tactus_rt::hostile::word;
use tactus_rt::{calls, grant, info, region_field};

tactus_rt::component! { upcall: upcall, thread: thread, services: [] }

fn thread(_: [u64; 2]) {
    loop {
        core::hint::black_box(0);
    }
}

fn upcall(core: u8) -> ! {
    share();
    let mode = grant("mode").call([0; 5]).map_or(Mode::Busy, |[mode, _]| Mode::from_word(mode));
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ u64::from(core) << 32;
    loop {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match mode {
            Mode::Busy => drop(core::hint::black_box(0)),
            Mode::Hostile => act(core, state),
            Mode::Flood => flood(state),
            Mode::Rewrite if core % 2 == 0 => call(core, state),
            Mode::Rewrite => rewrite(core, state),
        }
    }
}

/// Triggers its brands, and sends inter-core events: to itself on every core, and to brands that are wired to them.
fn flood(random: u64) {
    let cores = u64::from(info().cores);
    let (brand, core) = ((random >> 8) % 4, (random >> 16) % cores);
    match random % 16 {
        0 => drop(calls::brand_control(BrandOperation::Create, 0, 1)),
        1 => drop(calls::brand_control(BrandOperation::Wire, brand, source::REMOTE | core)),
        2..=5 => drop(calls::trigger_remote(core as u8, brand)),
        6..=9 => drop(calls::trigger(brand, random)),
        _ => drop(calls::notify(core as u8)),
    }
}

/// Dispatches threads of its own, whose numbers and choices other cores rewrite meanwhile.
fn call(core: u8, random: u64) {
    let thread = (random >> 16) % 48;
    region_field!(core, event_pending).write(0);
    region_field!(core, next_thread).write(thread);
    calls::raw(Call::SwitchThread as u64, [thread, (random >> 24) % 20, random, 0, 0, 0]);
}

/// Rewrites words of the region of the core before this one: all of them in turn, those at its head more often.
fn rewrite(core: u8, random: u64) {
    let words = if random & 1 == 0 { 24 } else { REGION_STRIDE / 8 };
    word(core - 1, (random >> 8) % words).write(random.rotate_left(29));
    if random & 0xf0 == 0 {
        // Lets another core run here and now, in the middle of whatever it does.
        core::hint::spin_loop();
    }
}

/// One of many ways to do harm.
fn act(core: u8, random: u64) {
    let below = |at: u32, most: u64| (random >> at) % most;
    let cores = u64::from(info().cores);
    match random % 8 {
        // Writes anything anywhere into its regions, those of other cores included.
        0 => {
            let core = below(8, cores) as u8;
            word(core, below(16, REGION_STRIDE / 8)).write(random.rotate_left(21));
        }
        // Threads that are its own and others, with all flags.
        1 | 2 => {
            let (thread, flags) = (below(16, 48), below(24, 20));
            region_field!(core, event_pending).write(0);
            region_field!(core, next_thread).write(thread);
            calls::raw(Call::SwitchThread as u64, [thread, flags, random, 0, 0, 0]);
        }
        // The tree.
        3 | 4 => {
            calls::raw(Call::SchedulerControl as u64, [below(16, 7), below(24, 48), below(32, 8), 0, 0, 0]);
        }
        // Word to itself on all cores, over and over.
        5 => {
            calls::raw(Call::Notify as u64, [below(16, cores + 1), 0, 0, 0, 0, 0]);
        }
        6 => {
            let number = [9, 10, 11, 12, 13, 14, 15, 16][below(16, 8) as usize];
            calls::raw(number, [below(20, 8), below(24, 48), below(32, 300), random, 0, 0]);
        }
        _ => calls::null(),
    }
}
