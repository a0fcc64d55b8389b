//! What an image has that is a processor's: a folder for each beside this file. Nothing outside names one (`tests/house`, `arch`).
//!
//! | Name | What it is |
//! |---|---|
//! | `elf_machine` | the machine that programs must be built for, as an ELF header names it |
//! | `target` | the same, as the compiler names it |
//! | `ELF_MACHINE` | that of packages, which one processor alone has |
//! | `iso` | wraps kernel and image for a real machine |

mod aarch64;
mod x86_64;

pub use x86_64::{iso, ELF_MACHINE};

use tactus_model::Processor;

/// The machine that programs for the processor must be built for, as an ELF header names it.
pub fn elf_machine(processor: Processor) -> u16 {
    match processor {
        Processor::X86 => x86_64::ELF_MACHINE,
        Processor::Arm => aarch64::ELF_MACHINE,
    }
}

/// The same, as the compiler names it.
pub fn target(processor: Processor) -> &'static str {
    match processor {
        Processor::X86 => x86_64::TARGET,
        Processor::Arm => aarch64::TARGET,
    }
}
