//! What is a processor's of the emulated machine: a folder for each beside this file. Nothing outside names one (`tests/house`, `arch`).
//!
//! | Name | What it is |
//! |---|---|
//! | `Emulated`, `of` | what programs are compiled for; the emulator's program and package; its command line; what is not booted there |
//! | `emulator` | boards of the first processor |
//! | `instructions` | where the kernel's code lies, and what the emulator's words for an instruction mean for the way through it |

mod aarch64;
mod x86_64;

pub use x86_64::{emulator, instructions};

use tactus_model::{Processor, System};

/// A processor's emulated machine.
pub struct Emulated {
    /// The bare machine that kernel and components are compiled for.
    pub target: &'static str,
    /// The target of components with floating point.
    pub floating_point_target: &'static str,
    /// The emulator's program, and Debian's package that has it.
    pub program: &'static str,
    /// See `program`.
    pub package: &'static str,
    /// The most memory (bytes).
    pub most_memory: u64,
    /// Physical address at which memory begins.
    pub memory: u64,
    /// The emulator's name for the board.
    pub board: fn(emulator::Board) -> &'static str,
    /// The processor by the emulator's name: of a kernel with a monitor below it, or with the machine for itself; whether the monitor holds
    /// back what it sends to other cores.
    pub processor: fn(bool, bool) -> &'static str,
    /// How the guest ends the emulator.
    pub exit: fn() -> Vec<String>,
    /// How the image comes into memory: its file's name, its length and that of memory (bytes), whether instructions are counted.
    pub image: fn(&str, u64, u64, bool) -> Vec<String>,
    /// What the guest ended with, from the emulator's exit status; nothing if it ended in another way.
    pub status_of_exit: fn(i32) -> Option<u32>,
    /// Why the system is not booted there, if it is not.
    pub refuses: fn(&System) -> Option<&'static str>,
}

/// The emulated machine of the processor.
pub fn of(processor: Processor) -> &'static Emulated {
    match processor {
        Processor::X86 => &x86_64::EMULATED,
        Processor::Arm => &aarch64::EMULATED,
    }
}
