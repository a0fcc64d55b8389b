//! What the programs of the arena share.

// Each program uses a part of it.
#![allow(dead_code)]

use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_rt::abi::call::{Error, SchedulerOperation};
use tactus_rt::abi::image::role;
use tactus_rt::abi::layout::{COMPONENTS, REGIONS, REGION_STRIDE};
use tactus_rt::abi::shared::{name_text, ComponentCard, Region};
use tactus_rt::{calls, info};

/// What is told to the root's service `tell`, as its first word.
pub mod kind {
    /// So often a call had this end: call and error in the second word, the number in the third.
    pub const COUNT: u64 = 0;
    /// The witness did a job.
    pub const JOB: u64 = 1;
    /// Something changed that must not: what, and where.
    pub const BROKEN: u64 = 2;
    /// Asks for the seed and the number of threads.
    pub const ASK: u64 = 3;
}

/// The fourth word of what is told: random calls reach the service too, with any words, and are not to be taken for tellers.
pub const fn seal(what: u64, first: u64, second: u64) -> u64 {
    (what ^ first.rotate_left(17) ^ second.rotate_left(39)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x7461_6374_7573
}

/// The words of a call of the service that tells this.
pub const fn told(what: u64, first: u64, second: u64) -> [u64; 5] {
    [what, first, second, seal(what, first, second), 0]
}

/// Calls are counted by number; numbers that are no calls together, as the last.
pub const CALLS: usize = 17;
/// Errors are counted by number.
pub const ERRORS: usize = 35;

/// Random numbers, the same in every run (xorshift64*).
pub struct Random(u64);

impl Random {
    /// Those of this seed.
    pub fn new(seed: u64) -> Random {
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random((mixed ^ mixed >> 31) | 1)
    }

    /// Any number.
    #[inline]
    pub fn any(&mut self) -> u64 {
        let Random(x) = self;
        *x ^= *x >> 12;
        *x ^= *x << 25;
        *x ^= *x >> 27;
        x.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `most`.
    #[inline]
    pub fn below(&mut self, most: u64) -> u64 {
        (u128::from(self.any()) * u128::from(most) >> 64) as u64
    }

    /// Once in so many times.
    #[inline]
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// A number that a kernel might stumble over.
    pub fn awkward(&mut self) -> u64 {
        match self.below(7) {
            0 => self.below(16),
            1 => self.below(300),
            2 => u64::MAX - self.below(16),
            3 => 1 << self.below(64),
            4 => (1 << self.below(64)) - 1,
            5 => 0xffff_ffff_8000_0000 | self.below(1 << 24),
            _ => self.any(),
        }
    }

    /// Mostly a number below `most`, else an awkward one.
    #[inline]
    pub fn mostly(&mut self, most: u64) -> u64 {
        if self.once_in(24) {
            self.awkward()
        } else {
            self.below(most)
        }
    }
}

/// The core's region of this component.
pub fn region(core: u8) -> *mut Region {
    (REGIONS + u64::from(core) * REGION_STRIDE) as *mut Region
}

/// Takes the events.
pub fn take_events(core: u8) -> u64 {
    let region = region(core);
    // SAFETY: the core's own region; an interrupt may come at any time, so the events are taken in one piece.
    unsafe {
        (&raw mut (*region).event_pending).write_volatile(0);
        AtomicU64::from_ptr(&raw mut (*region).events).swap(0, SeqCst)
    }
}

/// Says who is to be dispatched next. A dispatch of anybody else is refused from then on.
pub fn choose(core: u8, thread: u64) {
    // SAFETY: as in `take_events`.
    unsafe { (&raw mut (*region(core)).next_thread).write_volatile(thread) };
}

/// Chooses and dispatches.
pub fn dispatch(core: u8, thread: u64, flags: u64, timeout: u64) -> Result<(), Error> {
    choose(core, thread);
    calls::switch_thread(thread, flags, timeout)
}

/// Cards of all components. Only where the component sees them.
pub fn cards() -> &'static [ComponentCard] {
    // SAFETY: the image builder maps this number of cards there, read-only; none where the component does not see them.
    unsafe { core::slice::from_raw_parts(COMPONENTS as *const ComponentCard, info().components as usize) }
}

/// The card of the component with this name, and its number.
pub fn card(name: &str) -> (u64, &'static ComponentCard) {
    match cards().iter().enumerate().find(|(_, card)| name_text(&card.name) == name) {
        Some((number, card)) => (number as u64, card),
        None => calls::give_up(),
    }
}

/// Asks for the component's own regions.
pub fn share() -> Result<(), Error> {
    calls::scheduler_control(SchedulerOperation::Region, 0, 0)
}

/// The number of some component that may be a scheduler, the witness apart; of the root if there is none.
pub fn some_scheduler(random: &mut Random) -> u64 {
    let may = |card: &ComponentCard| card.role & role::SCHEDULER != 0 && name_text(&card.name) != "witness";
    let count = cards().iter().filter(|card| may(card)).count() as u64;
    let chosen = cards().iter().enumerate().filter(|(_, card)| may(card)).nth(random.below(count.max(1)) as usize);
    chosen.map_or(0, |(number, _)| number as u64)
}
