//! I/O ports and model-specific registers.

use core::arch::asm;

/// Writes a byte to a port.
pub fn out8(port: u16, value: u8) {
    // SAFETY: port writes do not touch memory; the ports used by the kernel belong to devices that it owns.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack, preserves_flags)) }
}

/// Reads a byte from a port.
pub fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: as for `out8`.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Writes four bytes to a port.
pub fn out32(port: u16, value: u32) {
    // SAFETY: as for `out8`.
    unsafe { asm!("out dx, eax", in("dx") port, in("eax") value, options(nomem, nostack, preserves_flags)) }
}

/// Reads four bytes from a port.
pub fn in32(port: u16) -> u32 {
    let value: u32;
    // SAFETY: as for `out8`.
    unsafe { asm!("in eax, dx", in("dx") port, out("eax") value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Writes a model-specific register.
///
/// # Safety
/// The register must exist and the value must keep the machine in a state that the kernel can run in.
pub unsafe fn write_msr(register: u32, value: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        asm!("wrmsr", in("ecx") register, in("eax") value as u32, in("edx") (value >> 32) as u32,
            options(nostack, preserves_flags));
    }
}

/// Reads a model-specific register.
///
/// # Safety
/// The register must exist.
pub unsafe fn read_msr(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: promised by the caller.
    unsafe {
        asm!("rdmsr", in("ecx") register, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}
