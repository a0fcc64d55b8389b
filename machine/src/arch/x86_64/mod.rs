//! x86-64: an emulated PC.

pub mod emulator;
pub mod instructions;

/// The bare machine that kernel and components are compiled for.
pub const TARGET: &str = "x86_64-unknown-none";

/// The target of components with floating point.
pub const FLOATING_POINT_TARGET: &str = "x86_64-unknown-linux-gnu";
