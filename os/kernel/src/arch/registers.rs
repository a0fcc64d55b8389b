//! The registers of a thread as the entry code saves them, and the vectors that lead into the kernel.

/// The registers of a thread, as saved on the way in.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
#[allow(missing_docs)]
pub struct Registers {
    pub r15: u64,
    pub r14: u64,
    pub r13: u64,
    pub r12: u64,
    pub r11: u64,
    pub r10: u64,
    pub r9: u64,
    pub r8: u64,
    pub rdi: u64,
    pub rsi: u64,
    pub rbp: u64,
    pub rbx: u64,
    pub rdx: u64,
    pub rcx: u64,
    pub rax: u64,
    /// Interrupt vector, or [`VECTOR_CALL`].
    pub vector: u64,
    pub error: u64,
    pub rip: u64,
    pub cs: u64,
    pub rflags: u64,
    pub rsp: u64,
    pub ss: u64,
}

impl Registers {
    /// All cleared.
    pub const NONE: Registers = Registers {
        r15: 0,
        r14: 0,
        r13: 0,
        r12: 0,
        r11: 0,
        r10: 0,
        r9: 0,
        r8: 0,
        rdi: 0,
        rsi: 0,
        rbp: 0,
        rbx: 0,
        rdx: 0,
        rcx: 0,
        rax: 0,
        vector: 0,
        error: 0,
        rip: 0,
        cs: 0,
        rflags: 0,
        rsp: 0,
        ss: 0,
    };
}

/// Stands in [`Registers::vector`] for a call: `rip`, `rsp` and `rax` count.
pub const VECTOR_CALL: u64 = 256;
/// Stands in [`Registers::vector`] for a beginning or a return: `rdi`, `rsi` and `rdx` count as well.
pub const VECTOR_PASS: u64 = 257;
/// Stands in [`Registers::vector`] for a dispatch that succeeded: as [`VECTOR_CALL`] with 0 in `rax`.
pub const VECTOR_SWITCHED: u64 = 258;
/// Vectors below this are the processor's exceptions, the others interrupts.
pub const EXCEPTIONS: u64 = 32;
/// The core's timer.
pub const VECTOR_TIMER: u64 = 0x40;
/// Inter-core event.
pub const VECTOR_NOTIFY: u64 = 0x41;
/// A component was stopped.
pub const VECTOR_STOP: u64 = 0x42;
/// Brands and schedulers have mail from another core.
pub const VECTOR_MAIL: u64 = 0x43;
/// The first of the interrupt lines.
pub const VECTOR_LINES: u64 = 0x50;
/// Interrupt lines that there are.
pub const LINES: u64 = 24;
/// Spurious interrupt of the local APIC.
pub const VECTOR_SPURIOUS: u64 = 0xff;

/// Flags of a new thread: interrupts on.
pub const USER_FLAGS: u64 = 0x202;
/// Segments of a thread, as `sysret` loads them.
pub const USER_CODE: u64 = 0x2b;
/// See [`USER_CODE`].
pub const USER_DATA: u64 = 0x23;
