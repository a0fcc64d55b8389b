//! What the processor's exceptions mean.

use super::paging::fault_address;
use super::registers::{Registers, SYNCHRONOUS, SYSTEM_ERROR};
use tactus_abi::layout::STACK_STRIDE;
use tactus_record::FaultKind;

/// What the processor's exception means for a component, and the address concerned; `stack` is the lower end of the thread's. The syndrome's class is in its upper six bits of 32.
#[inline(always)]
pub fn describe(registers: &Registers, stack: u64) -> (FaultKind, u64) {
    let (at, syndrome) = (registers.instruction, registers.syndrome);
    if registers.cause != SYNCHRONOUS {
        return (FaultKind::Other, at);
    }
    match syndrome >> 26 & 0x3f {
        // An unknown instruction; one of floating point, which is shut; a breakpoint, by which a program gives up.
        0x00 | 0x07 | 0x3c => (FaultKind::InvalidInstruction, at),
        // Waiting for an interrupt, and a system register.
        0x01 | 0x18 => (FaultKind::Privileged, at),
        // Fetch of an instruction; access to data.
        class @ (0x20 | 0x24) => {
            let address = fault_address();
            // Below what is mapped of the thread's own stack, there is no page, and nothing else ever lies there.
            let absent = syndrome & 0x3c == 4;
            let on_guard = absent && class == 0x24 && (stack..stack + STACK_STRIDE).contains(&address);
            let kind = match class {
                _ if on_guard => FaultKind::StackOverflow,
                0x20 if absent => FaultKind::Read,
                0x20 => FaultKind::Execute,
                _ if syndrome & 1 << 6 != 0 => FaultKind::Write,
                _ => FaultKind::Read,
            };
            (kind, address)
        }
        // Floating point that trapped.
        0x2c => (FaultKind::Arithmetic, at),
        _ => (FaultKind::Other, at),
    }
}

/// What an exception of the kernel itself means, if more can be said than its number; `on_guard` is whether the address lies below a stack
/// of the kernel's.
pub fn meaning(number: u64, on_guard: bool) -> &'static str {
    match number {
        SYNCHRONOUS if on_guard => ": the kernel's stack is too small",
        SYSTEM_ERROR => ": the processor reports an error of the machine",
        _ => "",
    }
}
