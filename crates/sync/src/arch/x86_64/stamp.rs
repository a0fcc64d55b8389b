//! Time stamps around a few instructions: the processor's cycle counter, read so that neither the processor nor the
//! compiler moves the measured code over the readings.
//!
//! The sequence is that of the source (PRACTISE, section 3.5): `CPUID; RDTSC; code; RDTSCP; CPUID`. In a virtual machine
//! `CPUID` leaves for the hypervisor, outside of the measured stretch but through the caches; `LFENCE` serialises there
//! too and stays. Stamps of two cores must never be subtracted from one another.

use core::arch::asm;

/// What keeps the processor from moving code over a stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serialise {
    /// `CPUID`, as in the source.
    Cpuid,
    /// `LFENCE`.
    Lfence,
}

#[inline(always)]
fn cpuid() {
    // SAFETY: leaf 0 exists on every x86-64 processor; the instruction writes four registers, of which LLVM reserves
    // rbx, so that it is kept in another one. No memory is touched but may not be cached across either.
    unsafe {
        asm!(
            "mov {keep}, rbx",
            "cpuid",
            "mov rbx, {keep}",
            keep = out(reg) _,
            inout("eax") 0 => _,
            out("ecx") _,
            out("edx") _,
            options(nostack),
        );
    }
}

#[inline(always)]
fn lfence() {
    // SAFETY: the instruction only waits.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

/// The stamp before the measured code.
#[inline(always)]
pub fn begin(how: Serialise) -> u64 {
    match how {
        Serialise::Cpuid => cpuid(),
        Serialise::Lfence => lfence(),
    }
    let (low, high): (u32, u32);
    // SAFETY: reads the counter; user programs may do so on every system that Tactus runs its rig on.
    unsafe { asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
    // Where LFENCE is the fence, the code must not begin before the counter was read.
    if how == Serialise::Lfence {
        lfence();
    }
    u64::from(high) << 32 | u64::from(low)
}

/// The stamp after the measured code.
#[inline(always)]
pub fn end(how: Serialise) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: as in `begin`; the processor's number in ecx is not used.
    unsafe { asm!("rdtscp", out("eax") low, out("edx") high, out("ecx") _, options(nostack, preserves_flags)) };
    match how {
        Serialise::Cpuid => cpuid(),
        Serialise::Lfence => lfence(),
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_stamp_is_greater() {
        for how in [Serialise::Cpuid, Serialise::Lfence] {
            let first = begin(how);
            assert!(end(how) > first);
        }
    }
}
