//! Interrupt lines of devices: the first shared interrupts of the controller.

use super::gic;
use super::interrupts::{own_address, Address};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How many lines there are.
pub const COUNT: usize = 24;
/// The core that gets the interrupts.
static TARGET: AtomicU64 = AtomicU64::new(0);

/// The distributor was set up at the start, with all lines closed; they come to this core.
pub fn set_up(_firmware: u64) {
    let own: Address = own_address();
    TARGET.store(own, Relaxed);
}

/// Lets the line interrupt, or not.
pub fn set(line: usize, open: bool) {
    gic::set_line(line.min(COUNT - 1) as u64, open, TARGET.load(Relaxed));
}

/// The line, which has interrupted, interrupts no more.
#[inline(always)]
pub fn silence(line: usize) {
    set(line, false);
}

/// The entry code handles no line by itself.
pub fn shorten(_line: usize) {}
