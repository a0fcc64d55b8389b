//! How fast the clocks run, for all kernels of the machine: each by itself would measure the others' work with its own.

use crate::apic;
use crate::processor::{hypervisor, in8, out8, time_stamp};

const NANOSECONDS: u64 = 1_000_000_000;

/// Ticks per second.
pub struct Rates {
    /// Of the time-stamp counter.
    pub time_stamp: u64,
    /// Of the interrupt controller's timer.
    pub timer: u64,
    /// Whether an emulator counts instructions, so that cores take turns.
    pub emulated: bool,
}

/// Finds the rates, before any other core runs. An emulator that counts instructions is told by its name and by a counter of nanoseconds.
pub fn rates() -> Rates {
    let emulator = [u32::from_le_bytes(*b"TCGT"), u32::from_le_bytes(*b"CGTC"), u32::from_le_bytes(*b"GTCG")];
    let measured = measure();
    if hypervisor() == Some(emulator) && measured.time_stamp.abs_diff(NANOSECONDS) < NANOSECONDS / 200 {
        return Rates { time_stamp: NANOSECONDS, timer: NANOSECONDS, emulated: true };
    }
    measured
}

/// Counts both during 10 ms of the interval timer's third counter.
fn measure() -> Rates {
    const COUNTS: u16 = 11_932;
    out8(0x61, (in8(0x61) & !2) | 1);
    out8(0x43, 0xb0);
    out8(0x42, COUNTS as u8);
    apic::start_timer(u32::MAX);
    out8(0x42, (COUNTS >> 8) as u8);
    let (start, count) = (time_stamp(), apic::timer_count());
    while in8(0x61) & 0x20 == 0 {
        core::hint::spin_loop();
    }
    let (end, rest) = (time_stamp(), apic::timer_count());
    apic::start_timer(0);
    let per_second = |counted: u64| counted * 1_193_182 / u64::from(COUNTS);
    Rates { time_stamp: per_second(end - start), timer: per_second(u64::from(count - rest)), emulated: false }
}

/// Lets the interval timer expire each time after this number of its ticks, unseen: an emulator whose cores take turns ends a turn at each.
pub fn bound_turns(ticks: u16) {
    // The old interrupt controllers let nothing through.
    out8(0x21, 0xff);
    out8(0xa1, 0xff);
    out8(0x43, 0x34);
    out8(0x40, ticks as u8);
    out8(0x40, (ticks >> 8) as u8);
}
