//! The machine: the toolchain that builds for it, the emulator that is it, and the memory in which a run leaves its
//! trace.

pub mod build;
pub mod emulator;
mod patience;
pub mod probe;
pub mod rings;
pub mod stretches;
pub mod supervised;
pub mod symbols;
pub mod toolchain;
pub mod watch;

/// The bare machine that kernel and components are compiled for.
pub const TARGET: &str = "x86_64-unknown-none";
