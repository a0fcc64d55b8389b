//! What is known of the machine and of the system from the start on; the end of the run.

use crate::arch::{cpu, serial};
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The run's end, for the emulator's exit status.
pub const END_KERNEL_FAULT: u8 = 0x71;
/// See [`END_KERNEL_FAULT`].
pub const END_SCHEDULER_FAULT: u8 = 0x72;
/// See [`END_KERNEL_FAULT`].
pub const END_BAD_IMAGE: u8 = 0x73;

/// Physical address of the clock page.
pub static CLOCK: AtomicU64 = AtomicU64::new(0);
/// See [`cores`].
pub static CORES: AtomicUsize = AtomicUsize::new(0);
/// See [`components`].
pub static COMPONENTS: AtomicUsize = AtomicUsize::new(0);
/// Ticks of the counter of time in a second.
pub static TIME_STAMP_RATE: AtomicU64 = AtomicU64::new(1);
/// Whether the timer counts as the counter of time does, and is set for time-outs alone. Known to the entry code.
pub static PLAIN_TIMER: AtomicBool = AtomicBool::new(false);

/// Number of cores that run.
pub fn cores() -> usize {
    CORES.load(Ordering::Relaxed)
}

/// Number of components.
pub fn components() -> u16 {
    COMPONENTS.load(Ordering::Relaxed) as u16
}

/// So many microseconds in time-stamp ticks.
pub fn microseconds(count: u64) -> u64 {
    TIME_STAMP_RATE.load(Ordering::Relaxed) / 1_000_000 * count
}

/// So many nanoseconds in time-stamp ticks.
pub fn nanoseconds(count: u64) -> u64 {
    let ticks = u128::from(TIME_STAMP_RATE.load(Ordering::Relaxed)) * u128::from(count) / 1_000_000_000;
    ticks.min(u128::from(u64::MAX)) as u64
}

/// Ends the run: the emulator leaves with the code, a real machine stops.
pub fn end(code: u8) -> ! {
    serial::flush();
    cpu::end(code)
}
