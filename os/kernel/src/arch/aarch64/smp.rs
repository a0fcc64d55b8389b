//! The other cores: this kernel starts none yet, and says that it found one.

use super::interrupts::{own_address, Address};

/// The core that the kernel was started on.
pub fn processors(_firmware: u64) -> ([Address; 64], usize) {
    let mut all = [0; 64];
    all[0] = own_address();
    (all, 1)
}

/// Nobody is to be reset.
pub fn reset(_others: impl Iterator<Item = Address>, _ticks_per_second: u64) {}

/// No other core is started.
pub fn start(_id: usize, _address: Address, _stack: u64, _ticks_per_second: u64) -> bool {
    false
}

/// Nobody else asks.
pub fn starting() -> (usize, Address) {
    (0, own_address())
}

/// Nobody waits for it.
pub fn is_up(_id: usize) {}
