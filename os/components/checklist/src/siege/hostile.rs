//! The hostile scheduler: never yields, and does with the kernel's calls, and with its own regions, what it likes.
#![no_std]
#![no_main]

mod common;

use common::{region, share};
use tactus_rt::abi::call::Call;
use tactus_rt::abi::layout::REGION_STRIDE;
use tactus_rt::{calls, grant, info};

tactus_rt::component! { upcall: upcall, thread: thread, services: [] }

fn thread(_: [u64; 2]) {
    loop {
        core::hint::black_box(0);
    }
}

fn upcall(core: u8) -> ! {
    share();
    let hostile = grant("mode").call([0; 5]).is_ok_and(|[mode, _]| mode != 0);
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ u64::from(core) << 32;
    loop {
        if !hostile {
            core::hint::black_box(0);
            continue;
        }
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        act(core, state);
    }
}

/// One of many ways to do harm.
fn act(core: u8, random: u64) {
    let word = |at: u32, most: u64| (random >> at) % most;
    let cores = u64::from(info().cores);
    let any = region(word(8, cores) as u8);
    match random % 8 {
        // Writes anything anywhere into its regions, those of other cores included.
        0 => {
            let place = any.cast::<u64>().wrapping_add(word(16, REGION_STRIDE / 8) as usize);
            // SAFETY: a word of this component's regions, mapped writable as a whole.
            unsafe { place.write_volatile(random.rotate_left(21)) };
        }
        // Threads that are its own and others, with all flags.
        1 | 2 => {
            let (thread, flags) = (word(16, 48), word(24, 20));
            // SAFETY: as above.
            unsafe {
                (&raw mut (*region(core)).event_pending).write_volatile(0);
                (&raw mut (*region(core)).next_thread).write_volatile(thread);
            }
            calls::raw(Call::SwitchThread as u64, [thread, flags, random, 0, 0, 0]);
        }
        // The tree.
        3 | 4 => {
            calls::raw(Call::SchedulerControl as u64, [word(16, 7), word(24, 48), word(32, 8), 0, 0, 0]);
        }
        // Word to itself on all cores, over and over.
        5 => {
            calls::raw(Call::Notify as u64, [word(16, cores + 1), 0, 0, 0, 0, 0]);
        }
        6 => {
            let number = [9, 10, 11, 12, 13, 14, 15, 16][word(16, 8) as usize];
            calls::raw(number, [word(20, 8), word(24, 48), word(32, 300), random, 0, 0]);
        }
        _ => calls::null(),
    }
}
