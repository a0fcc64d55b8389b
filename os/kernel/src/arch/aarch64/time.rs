//! How fast the counter of time and the timer run: one counter, whose rate the processor tells.

use super::loader::{self, Sandbox};
use core::arch::asm;

/// Ticks per second of both.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// The counter's.
    pub time_stamp: u64,
    /// The timer's.
    pub timer: u64,
    /// Whether this is an emulated machine with counted instructions, as its command line says.
    pub emulated: bool,
}

/// The rates.
pub fn rates(_: Option<Sandbox>) -> Rates {
    let rate: u64;
    // SAFETY: reading the register has no effect.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) rate, options(nomem, nostack, preserves_flags)) }
    let rate = rate & 0xffff_ffff;
    Rates { time_stamp: rate, timer: rate, emulated: loader::is_counted() }
}
