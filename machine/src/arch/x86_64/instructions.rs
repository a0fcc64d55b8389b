//! Instructions of the kernel, in the emulator's words.

/// Where the kernel's code lies.
pub const KERNEL: &str = "0xffffffff80100000..0xffffffff80ffffff";

/// Whether interrupts are on after an instruction of this name.
pub fn lets_interrupt(name: &str) -> bool {
    matches!(name, "sysretq" | "sysret" | "iretq" | "sti" | "hlt")
}

/// Whether an instruction of this name repeats itself.
pub fn repeats(name: &str) -> bool {
    name.starts_with("rep")
}

/// Whether it goes to the place that is named behind it.
pub fn jumps(name: &str) -> bool {
    name.starts_with('j')
}
