//! What is known of the machine and of the system from the start on; the end of the run.

use crate::arch::port::{halt, out8};
use crate::arch::serial;
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
/// Ticks of the time-stamp counter and of the APIC timer in a second.
pub static TIME_STAMP_RATE: AtomicU64 = AtomicU64::new(1);
/// See [`TIME_STAMP_RATE`].
pub static APIC_RATE: AtomicU64 = AtomicU64::new(1);

/// How many cores share one time where cores take turns: those of other sandboxes, too.
pub static SHARING: AtomicUsize = AtomicUsize::new(1);
/// See [`turn`].
pub static TURN: AtomicU64 = AtomicU64::new(0);
/// Whether the timer counts as the time-stamp counter does, and is set for time-outs alone. Known to the entry code.
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

/// How long (time-stamp ticks) a core of this machine may run without a look at the others; 0 if they run at the same
/// time, as they do on every real machine.
pub fn turn() -> u64 {
    TURN.load(Ordering::Relaxed)
}

/// Time-stamp ticks as counts of the APIC timer.
pub fn timer_counts(ticks: u64) -> u64 {
    let (time_stamp, apic) = (TIME_STAMP_RATE.load(Ordering::Relaxed), APIC_RATE.load(Ordering::Relaxed));
    if time_stamp == apic {
        return ticks;
    }
    (u128::from(ticks) * u128::from(apic) / u128::from(time_stamp)).min(u128::from(u64::MAX)) as u64
}

/// Ends the run: the emulator leaves with the code, a real machine stops.
pub fn end(code: u8) -> ! {
    serial::flush();
    out8(0xf4, code);
    halt()
}
