//! For tests: a scheduler that goes wild a while after the run began. It writes nonsense all over its regions, asks for
//! whatever comes to its mind, and gives the core back to nobody.

use crate::state;
use tactus_rt::abi::layout::REGION_STRIDE;
use tactus_rt::scheduler::OwnRegion;
use tactus_rt::time::Instant;
use tactus_rt::{calls, clock, info};

/// From then on.
const BEGINS: Instant = Instant::from_nanos(20_000_000);
/// Of calls, some of which there are not.
const NUMBERS: u64 = 24;

/// Comes back if it is not wild, or not yet.
pub fn upcall(core: u8) {
    if !info().name.starts_with(b"wild") || !state::has_begun(core) || clock::now() < BEGINS {
        return;
    }
    let mut seed = clock::time_stamp() | 1;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    loop {
        let words = (REGION_STRIDE / 8 - 1) as usize;
        for _ in 0..16 {
            OwnRegion::of(core).write_word(random() as usize % words, random());
        }
        // All calls but those that end it, that write to the console, or that give the core back: a scheduler with nothing to
        // run is none that goes wild.
        let number = random() % NUMBERS;
        if ![5, 6, 7].contains(&number) {
            calls::raw(number, [random() % 300, random() % 300, random() % 300, random(), random(), random()]);
        }
    }
}
