//! Processors that execute ahead of themselves: which of them leak memory, and how they are made to forget.
//!
//! All physical memory is mapped in the kernel's half of every address space. A processor with Meltdown lets user level read it, so
//! such a one is refused, unless the system file accepts that. Where the file asks for it, the branch predictor forgets at each
//! change of component what it was taught (IBPB), and threads of one processor do not teach each other (STIBP).

use super::port::{read_msr, write_msr};
use core::arch::x86_64::{__cpuid, __cpuid_count, CpuidResult};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether each change of component has a barrier. Known to the entry code.
pub static BARRIERS: AtomicBool = AtomicBool::new(false);
/// The register that makes the predictor forget. Known to the entry code.
pub const PREDICTION_COMMAND: u32 = 0x49;
const CONTROL: u32 = 0x48;
const CAPABILITIES: u32 = 0x10a;

// Newer compilers know that CPUID is safe.
#[allow(unused_unsafe)]
fn leaf(number: u32) -> CpuidResult {
    // SAFETY: CPUID exists on every 64-bit processor; leaves above the last one are not asked for.
    unsafe {
        if __cpuid(number & 0x8000_0000).eax >= number {
            __cpuid_count(number, 0)
        } else {
            CpuidResult { eax: 0, ebx: 0, ecx: 0, edx: 0 }
        }
    }
}

fn vendor() -> [u32; 3] {
    let CpuidResult { ebx, edx, ecx, .. } = leaf(0);
    [ebx, edx, ecx]
}

const fn word(text: &[u8; 12], at: usize) -> u32 {
    u32::from_le_bytes([text[at], text[at + 1], text[at + 2], text[at + 3]])
}

const fn words(text: &[u8; 12]) -> [u32; 3] {
    [word(text, 0), word(text, 4), word(text, 8)]
}

/// Whether the processor may have Meltdown: all may but those whose makers say that none of theirs has it, and those that say so
/// themselves (RDCL_NO).
pub fn has_meltdown() -> bool {
    if [words(b"AuthenticAMD"), words(b"HygonGenuine")].contains(&vendor()) {
        return false;
    }
    let tells = leaf(7).edx & (1 << 29) != 0;
    // SAFETY: the register exists, as the processor has just said.
    !(tells && unsafe { read_msr(CAPABILITIES) } & 1 != 0)
}

/// Begins to use barriers, if the processor has them; whether it has.
pub fn use_barriers() -> bool {
    let there = leaf(7).edx & (1 << 26) != 0 || leaf(0x8000_0008).ebx & (1 << 12) != 0;
    BARRIERS.store(there, Relaxed);
    there
}

/// Keeps the threads of one processor from teaching each other, where that is wanted and can be.
pub fn set_up_core() {
    if BARRIERS.load(Relaxed) && leaf(7).edx & (1 << 27) != 0 {
        // SAFETY: the register exists, as the processor has just said, and the bit with it.
        unsafe { write_msr(CONTROL, 2) };
    }
}

/// Another component begins: its branches are predicted by nothing that the one before taught.
pub fn component_changes() {
    if BARRIERS.load(Relaxed) {
        // SAFETY: the register exists where barriers are used.
        unsafe { write_msr(PREDICTION_COMMAND, 1) };
    }
}
