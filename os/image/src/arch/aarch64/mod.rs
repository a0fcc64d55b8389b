//! AArch64.

/// As an ELF header names it.
pub const ELF_MACHINE: u16 = object::elf::EM_AARCH64.0;
/// As the compiler names it.
pub const TARGET: &str = "aarch64-unknown-none-softfloat";
