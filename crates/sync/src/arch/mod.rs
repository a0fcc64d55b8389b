//! What is a processor's: a folder for each beside this file. `stamp` takes times around a few instructions.

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
pub use x86_64::stamp;
