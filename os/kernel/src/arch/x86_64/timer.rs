//! The core's one-shot timer.

pub use super::apic::{start_timer as start, LONGEST_COUNT as LONGEST};
use super::cpu::time_stamp;
use super::time::timer_counts;

/// Starts it for the instant (time-stamp ticks), or for as much of the way as it can count.
pub fn start_until(instant: u64) {
    let ticks = instant.saturating_sub(time_stamp());
    start(timer_counts(ticks).clamp(1, LONGEST.into()) as u32);
}
