//! The few instructions that the monitor asks for by name.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, _rdtsc};
use tactus_abi::sandbox::MOST;

/// The register that turns long mode, system calls and virtualisation on.
pub const EFER: u32 = 0xc000_0080;
/// Virtualisation, in [`EFER`].
pub const SVME: u64 = 1 << 12;
/// Where the processor keeps the monitor's state while the kernel runs.
const HOST_SAVE: u32 = 0xc001_0117;

#[repr(C, align(4096))]
struct Page([u8; 4096]);

static HOST_STATES: [Page; MOST] = [const { Page([0; 4096]) }; MOST];

/// Whether the processor has AMD's virtualisation with nested paging.
#[allow(unused_unsafe)]
pub fn has_nested_paging() -> bool {
    // SAFETY: a safe function in newer compilers; every processor with long mode has the instruction and these leaves are asked for before use.
    unsafe {
        let last = __cpuid(0x8000_0000).eax;
        last >= 0x8000_000a && __cpuid(0x8000_0001).ecx & 1 << 2 != 0 && __cpuid(0x8000_000a).edx & 1 != 0
    }
}

/// Whether the interrupt controller can be reached through registers (x2APIC).
#[allow(unused_unsafe)]
pub fn has_registers_of_interrupts() -> bool {
    // SAFETY: as above.
    unsafe { __cpuid(1).ecx & 1 << 21 != 0 }
}

/// Turns virtualisation on for the core of this sandbox, and says where the monitor's state goes meanwhile.
pub fn begin_virtualisation(sandbox: usize) {
    // SAFETY: the processor has it; the page is the monitor's, and nothing else uses it.
    unsafe {
        write_msr(EFER, read_msr(EFER) | SVME);
        write_msr(HOST_SAVE, &raw const HOST_STATES[sandbox % MOST] as u64);
    }
}

/// Reads a model-specific register.
///
/// # Safety
/// It must exist.
pub unsafe fn read_msr(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: promised by the caller.
    unsafe {
        asm!("rdmsr", in("ecx") register, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags))
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Writes a model-specific register.
///
/// # Safety
/// It must exist, and the monitor must be able to go on with the value.
pub unsafe fn write_msr(register: u32, value: u64) {
    // SAFETY: promised by the caller.
    unsafe {
        asm!("wrmsr", in("ecx") register, in("eax") value as u32, in("edx") (value >> 32) as u32, options(nostack, preserves_flags));
    }
}

/// Writes four bytes to a port.
pub fn out32(port: u16, value: u32) {
    // SAFETY: port writes do not touch memory; the port ends the machine.
    unsafe { asm!("out dx, eax", in("dx") port, in("eax") value, options(nomem, nostack, preserves_flags)) }
}

/// Writes a byte to a port.
pub fn out8(port: u16, value: u8) {
    // SAFETY: as for `out32`; the serial port's.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack, preserves_flags)) }
}

/// Reads a byte from a port.
pub fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: as for `out8`.
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nomem, nostack, preserves_flags)) }
    value
}

/// Stops the core for good.
pub fn halt() -> ! {
    loop {
        // SAFETY: nothing runs on the core any more.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) }
    }
}

/// The time-stamp counter.
pub fn time_stamp() -> u64 {
    // SAFETY: every processor with long mode has the instruction.
    unsafe { _rdtsc() }
}

/// The name that an emulator or a hypervisor gives itself, if it says that it is one.
#[allow(unused_unsafe)]
pub fn hypervisor() -> Option<[u32; 3]> {
    // SAFETY: as in `has_nested_paging`.
    unsafe {
        let is_one = __cpuid(1).ecx & 1 << 31 != 0;
        is_one.then(|| __cpuid(0x4000_0000)).map(|leaf| [leaf.ebx, leaf.ecx, leaf.edx])
    }
}

/// As many instructions without effect as an emulator translates at once.
#[inline(always)]
pub fn execute_nothing() {
    // SAFETY: they do nothing.
    unsafe { asm!(".rept 480", "nop", ".endr", options(nomem, nostack, preserves_flags)) }
}
