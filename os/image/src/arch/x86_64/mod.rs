//! x86-64.

pub mod iso;

/// As an ELF header names it.
pub const ELF_MACHINE: u16 = object::elf::EM_X86_64.0;
/// As the compiler names it.
pub const TARGET: &str = "x86_64-unknown-none";
