//! What an image has that is a processor's: a folder for each beside this file. Nothing outside names one (`tests/house`, `arch`).
//!
//! | Name | What it is |
//! |---|---|
//! | `ELF_MACHINE` | the machine that programs must be built for, as an ELF header names it |
//! | `TARGET` | the same, as the compiler names it |
//! | `iso` | wraps kernel and image for a real machine |

mod x86_64;

pub use x86_64::{iso, ELF_MACHINE, TARGET};
