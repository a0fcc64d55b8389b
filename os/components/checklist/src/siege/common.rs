//! What schedulers of the siege share.

// Each program uses a part of it.
#![allow(dead_code)]

use tactus_rt::abi::call::{Error, SchedulerOperation};
use tactus_rt::abi::shared::{name_text, ComponentCard};
use tactus_rt::calls;
use tactus_rt::cards::components;
use tactus_rt::scheduler::OwnRegion;

/// Takes the events.
pub fn take_events(core: u8) -> u64 {
    OwnRegion::of(core).take_events()
}

/// Chooses and dispatches.
pub fn dispatch(core: u8, thread: u64, flags: u64, timeout: u64) -> Result<(), Error> {
    OwnRegion::of(core).set_next_thread(thread);
    calls::switch_thread(thread, flags, timeout)
}

/// The card of the component with this name, and its number.
pub fn card(name: &str) -> (u64, &'static ComponentCard) {
    match components().iter().enumerate().find(|(_, card)| name_text(&card.name) == name) {
        Some((number, card)) => (number as u64, card),
        None => calls::give_up(),
    }
}

/// The scheduler's upcall thread on the core.
pub fn upcall_of(name: &str, core: u8) -> u64 {
    u64::from(card(name).1.first_upcall) + u64::from(core)
}

/// Asks for the component's own regions.
pub fn share() {
    let _ = calls::scheduler_control(SchedulerOperation::Region, 0, 0);
}

/// What the hostile scheduler does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing but keep the core.
    Busy = 0,
    /// Anything.
    Hostile = 1,
    /// Triggers its brands and sends inter-core events, as fast as it can.
    Flood = 2,
    /// On every other core it calls; on the others it rewrites meanwhile what the kernel reads in those calls.
    Rewrite = 3,
}

impl Mode {
    /// What the system's name ends with.
    pub fn named(system: &str) -> Mode {
        match system {
            name if name.ends_with("hostile") => Mode::Hostile,
            name if name.ends_with("flood") => Mode::Flood,
            name if name.ends_with("rewrite") => Mode::Rewrite,
            _ => Mode::Busy,
        }
    }

    /// The mode with this number.
    pub fn from_word(word: u64) -> Mode {
        match word {
            1 => Mode::Hostile,
            2 => Mode::Flood,
            3 => Mode::Rewrite,
            _ => Mode::Busy,
        }
    }
}
