//! How fast the time-stamp counter and the APIC timer run.

use super::apic;
use super::cpu::time_stamp;
use super::loader::Sandbox;
use super::port::{in8, out8};
use core::arch::x86_64::__cpuid;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Ticks per second of both.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// The time-stamp counter's.
    pub time_stamp: u64,
    /// The timer's.
    pub timer: u64,
    /// Whether this is QEMU's own processor with counted instructions, whose cores take turns.
    pub emulated: bool,
}

/// Finds the rates: in a sandbox its monitor tells them, else by measuring. The APIC must be set up. QEMU's own processor with counted instructions is told by its
/// name and by a time stamp that counts the emulator's nanoseconds: then both rates are known exactly. (Without counting,
/// its time stamp is the host's.)
pub fn rates(sandbox: Option<Sandbox>) -> Rates {
    let rates = sandbox.map_or_else(find, Sandbox::rates);
    TIME_STAMP_RATE.store(rates.time_stamp, Relaxed);
    TIMER_RATE.store(rates.timer, Relaxed);
    rates
}

fn find() -> Rates {
    // Whether CPUID is safe to call differs among compilers; it exists on every 64-bit processor.
    #[allow(unused_unsafe)]
    // SAFETY: see above.
    let hypervisor = unsafe {
        if __cpuid(1).ecx & (1 << 31) == 0 {
            [0; 3]
        } else {
            let leaf = __cpuid(0x4000_0000);
            [leaf.ebx, leaf.ecx, leaf.edx]
        }
    };
    let emulated = [u32::from_le_bytes(*b"TCGT"), u32::from_le_bytes(*b"CGTC"), u32::from_le_bytes(*b"GTCG")];
    const NANOSECONDS: u64 = 1_000_000_000;
    // A look at the emulated one may be short: what else its time stamp could count is far from it.
    if hypervisor == emulated && measure(1_193).time_stamp.abs_diff(NANOSECONDS) < NANOSECONDS / 200 {
        return Rates { time_stamp: NANOSECONDS, timer: NANOSECONDS, emulated: true };
    }
    measure(11_932)
}

/// Counts both during so many ticks of the PIT's channel 2, 1193 to the millisecond.
fn measure(pit: u16) -> Rates {
    out8(0x61, (in8(0x61) & !2) | 1);
    out8(0x43, 0xb0);
    out8(0x42, pit as u8);
    apic::start_timer(u32::MAX);
    out8(0x42, (pit >> 8) as u8);
    let (start, count) = (time_stamp(), apic::timer_count());
    while in8(0x61) & 0x20 == 0 {
        core::hint::spin_loop();
    }
    let (end, rest) = (time_stamp(), apic::timer_count());
    apic::start_timer(0);
    let per_second = |counted: u64| counted * 1_193_182 / u64::from(pit);
    Rates { time_stamp: per_second(end - start), timer: per_second(u64::from(count - rest)), emulated: false }
}

/// Ticks of the time-stamp counter and of the APIC timer in a second.
static TIME_STAMP_RATE: AtomicU64 = AtomicU64::new(1);
/// See [`TIME_STAMP_RATE`].
static TIMER_RATE: AtomicU64 = AtomicU64::new(1);

/// Time-stamp ticks as counts of the timer.
pub fn timer_counts(ticks: u64) -> u64 {
    let (time_stamp, timer) = (TIME_STAMP_RATE.load(Relaxed), TIMER_RATE.load(Relaxed));
    if time_stamp == timer {
        return ticks;
    }
    (u128::from(ticks) * u128::from(timer) / u128::from(time_stamp)).min(u128::from(u64::MAX)) as u64
}
