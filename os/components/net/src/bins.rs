//! The bin that counts go to now.

use tactus_rt::now;

/// The bin of [`tactus_packets::Counts`] for now.
pub fn bin(length: u64) -> u64 {
    now().as_nanos().checked_div(length).unwrap_or(0)
}
