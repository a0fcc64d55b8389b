//! I/O ports, model-specific registers and the few instructions that the rest of the kernel asks for by name.

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

/// The time-stamp counter.
pub fn time_stamp() -> u64 {
    // SAFETY: reading the counter has no effect.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Stops the core for good.
pub fn halt() -> ! {
    loop {
        // SAFETY: nothing runs on the core any more.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) }
    }
}

/// The address of the current core's block, which is its first field.
///
/// # Safety
/// Only inside the kernel after the core's descriptors were set up: GS holds the block's address then.
#[inline(always)]
pub unsafe fn core_block<T>() -> *mut T {
    let this: *mut T;
    // SAFETY: promised by the caller.
    unsafe { asm!("mov {}, gs:[0]", out(reg) this, options(nostack, preserves_flags, readonly)) }
    this
}

/// Copies words, and writes zeros behind them. By words: an emulator counts one instruction for each element.
///
/// # Safety
/// The words can be read, all places can be written, and nobody else uses them.
pub unsafe fn copy_and_clear(to: *mut u64, from: *const u64, words: u64, zeros: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        asm!("rep movsq", "mov rcx, {zeros}", "rep stosq", zeros = in(reg) zeros, inout("rcx") words => _,
            inout("rdi") to => _, inout("rsi") from => _, in("rax") 0, options(nostack, preserves_flags));
    }
}
