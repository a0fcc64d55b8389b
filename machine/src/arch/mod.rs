//! What is a processor's of the emulated machine: a folder for each beside this file. Nothing outside names one (`tests/house`, `arch`).
//!
//! | Name | What it is |
//! |---|---|
//! | `TARGET`, `FLOATING_POINT_TARGET` | what programs are compiled for |
//! | `emulator` | the emulator's program and package; boards, processors, how the guest ends it, and the kernel's form, by its command line |
//! | `instructions` | where the kernel's code lies, and what the emulator's words for an instruction mean for the way through it |

mod x86_64;

pub use x86_64::{emulator, instructions, FLOATING_POINT_TARGET, TARGET};
