//! The registers of a thread as the entry code saves them, and the vectors that lead into the kernel.

use tactus_abi::call::ThreadState;
use tactus_abi::layout::{PAGE, PROGRAM, WINDOW_PAGES};

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

    /// Where the thread goes on.
    #[inline(always)]
    pub fn instruction(&self) -> u64 {
        self.rip
    }

    /// See [`Registers::instruction`].
    #[inline(always)]
    pub fn instruction_mut(&mut self) -> &mut u64 {
        &mut self.rip
    }

    /// The stack there.
    #[inline(always)]
    pub fn stack(&self) -> u64 {
        self.rsp
    }

    /// The number of the interrupt or exception by which it came in.
    #[inline(always)]
    pub fn cause(&self) -> u64 {
        self.vector
    }

    /// Whether it came in by an interrupt or fault, and has all that it had in its registers.
    #[inline(always)]
    pub fn are_interrupted(&self) -> bool {
        (1..VECTOR_CALL).contains(&self.vector)
    }

    /// The number of the call by which it came in.
    #[inline(always)]
    pub fn call(&self) -> u64 {
        self.rax
    }

    /// The status of its call.
    #[inline(always)]
    pub fn set_status(&mut self, status: u64) {
        self.rax = status;
    }

    /// It goes on here.
    #[inline(always)]
    pub fn go_on_at(&mut self, instruction: u64, stack: u64) {
        (self.rip, self.rsp) = (instruction, stack);
    }

    /// Gives a status and three words to the thread, which called; all other registers are cleared.
    #[inline(always)]
    pub fn pass(&mut self, [status, first, second, third]: [u64; 4]) {
        self.vector = VECTOR_PASS;
        (self.rax, self.rdi, self.rsi, self.rdx) = (status, first, second, third);
    }

    /// The words that it passes.
    #[inline(always)]
    pub fn words(&self) -> Words {
        let Registers { rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15, .. } = *self;
        [rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15]
    }

    /// Gives words to the thread; all general registers count, as after an interrupt, and no others: no interrupt that a thread goes on
    /// after has vector 0.
    #[inline(always)]
    pub fn pass_all(&mut self, [rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15]: Words) {
        let Registers { rip, rsp, .. } = *self;
        *self = Registers { rip, rsp, rdi, rsi, rdx, r10, r8, r9, rbx, r12, r13, r14, r15, ..Registers::NONE };
        (self.cs, self.ss, self.rflags) = (USER_CODE, USER_DATA, USER_FLAGS);
    }
}

/// The words of a call in their order. The first is the grant, or who calls; a return has all but the sixth.
pub type Words = [u64; 11];

/// What a call leaves on the stack above the place where its callee begins.
pub const RETURN_ADDRESS: u64 = 8;

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

/// Flags that a thread can set itself and that calculations set: carry, parity, adjust, zero, sign, direction, overflow.
const OWN_FLAGS: u64 = 0xcd5;
/// The end of the addresses of components.
const END: u64 = 1 << 47;

impl Registers {
    /// As they are kept of a thread that is saved.
    pub fn kept(&self) -> ThreadState {
        let mut state = [0; size_of::<ThreadState>() / 8];
        let vector = if (1..VECTOR_CALL).contains(&self.vector) { VECTOR_TIMER } else { self.vector };
        let flags = self.rflags & OWN_FLAGS | USER_FLAGS;
        let Registers { r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax, rip, rsp, .. } = *self;
        let general = [r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax];
        let all = general.into_iter().chain([vector, rip, USER_CODE, flags, rsp, USER_DATA]);
        state.iter_mut().zip(all).for_each(|(place, word)| *place = word);
        state
    }

    /// What was kept, again; nothing if it could not have been kept so: others than a component's segments and flags, an instruction
    /// outside of the window of a slot, a stack outside of components, a way into the kernel that there is not.
    pub fn of_kept(state: &ThreadState) -> Option<Registers> {
        let [r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax, rest @ ..] = *state;
        let [vector, rip, cs, rflags, rsp, ss, rest @ ..] = rest;
        let known = [0, VECTOR_TIMER, VECTOR_CALL, VECTOR_PASS, VECTOR_SWITCHED].contains(&vector);
        let within = (PROGRAM..PROGRAM + WINDOW_PAGES * PAGE).contains(&rip) && rsp < END;
        let own = cs == USER_CODE && ss == USER_DATA && rflags & !OWN_FLAGS == USER_FLAGS;
        let general =
            Registers { r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax, ..Self::NONE };
        (known && within && own && rest.iter().all(|word| *word == 0)).then_some(Registers {
            vector,
            rip,
            cs,
            rflags,
            rsp,
            ss,
            ..general
        })
    }
}
