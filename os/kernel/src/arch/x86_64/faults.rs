//! What the processor's exceptions mean.

use super::descriptors::{DOUBLE_FAULT, MACHINE_CHECK, NON_MASKABLE};
use super::paging::fault_address;
use super::registers::Registers;
use tactus_abi::layout::STACK_STRIDE;
use tactus_record::FaultKind;

/// What the processor's exception means for a component, and the address concerned; `stack` is the lower end of the thread's.
///
/// A general-protection fault says nothing about its cause: a privileged instruction and an address that is none look the
/// same without a look at the instruction, which is the component's memory and none of the kernel's business.
#[inline(always)]
pub fn describe(registers: &Registers, stack: u64) -> (FaultKind, u64) {
    match registers.vector {
        0 | 4 => (FaultKind::Arithmetic, registers.rip),
        6 | 7 => (FaultKind::InvalidInstruction, registers.rip),
        13 => (FaultKind::Privileged, registers.rip),
        14 => {
            let address = fault_address();
            // Below what is mapped of the thread's own stack, there is no page, and nothing else ever lies there.
            let absent = registers.error & 0x11 == 0;
            let on_guard = absent && (stack..stack + STACK_STRIDE).contains(&address);
            let kind = match registers.error {
                _ if on_guard => FaultKind::StackOverflow,
                error if error & 0x10 != 0 => FaultKind::Execute,
                error if error & 2 != 0 => FaultKind::Write,
                _ => FaultKind::Read,
            };
            (kind, address)
        }
        16 | 19 => (FaultKind::Arithmetic, registers.rip),
        _ => (FaultKind::Other, registers.rip),
    }
}

/// What an exception of the kernel itself means, if more can be said than its number; `on_guard` is whether the address lies below a stack
/// of the kernel's.
pub fn meaning(vector: u64, on_guard: bool) -> &'static str {
    match vector as usize {
        NON_MASKABLE => ": an interrupt that cannot be masked, by which a machine reports an error",
        MACHINE_CHECK => ": the processor reports an error of the machine",
        DOUBLE_FAULT if on_guard => ": the kernel's stack is too small",
        _ => "",
    }
}
