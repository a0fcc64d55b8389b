//! The registers of a thread as the entry code saves them, and the numbers of ways into the kernel.

use tactus_abi::call::ThreadState;

/// The registers of a thread, as saved on the way in.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
pub struct Registers {
    /// x0 to x30.
    pub general: [u64; 31],
    /// The stack pointer.
    pub stack: u64,
    /// Where it goes on.
    pub instruction: u64,
    /// The processor's state (SPSR).
    pub state: u64,
    /// Number of the interrupt or exception, or [`CALL`], or [`PASS`].
    pub cause: u64,
    /// Of an exception: its syndrome (ESR).
    pub syndrome: u64,
}

impl Registers {
    /// All cleared.
    pub const NONE: Registers =
        Registers { general: [0; 31], stack: 0, instruction: 0, state: 0, cause: 0, syndrome: 0 };

    /// Where the thread goes on.
    #[inline(always)]
    pub fn instruction(&self) -> u64 {
        self.instruction
    }

    /// See [`Registers::instruction`].
    #[inline(always)]
    pub fn instruction_mut(&mut self) -> &mut u64 {
        &mut self.instruction
    }

    /// The stack there.
    #[inline(always)]
    pub fn stack(&self) -> u64 {
        self.stack
    }

    /// The number of the interrupt or exception by which it came in.
    #[inline(always)]
    pub fn cause(&self) -> u64 {
        self.cause
    }

    /// Whether it came in by an interrupt or fault, and has all that it had in its registers.
    #[inline(always)]
    pub fn are_interrupted(&self) -> bool {
        (1..CALL).contains(&self.cause)
    }

    /// The number of the call by which it came in.
    #[inline(always)]
    pub fn call(&self) -> u64 {
        self.general[STATUS]
    }

    /// The status of its call.
    #[inline(always)]
    pub fn set_status(&mut self, status: u64) {
        self.general[STATUS] = status;
    }

    /// It goes on here.
    #[inline(always)]
    pub fn go_on_at(&mut self, instruction: u64, stack: u64) {
        (self.instruction, self.stack) = (instruction, stack);
    }

    /// Gives a status and three words to the thread, which called; all other registers are cleared.
    #[inline(always)]
    pub fn pass(&mut self, [status, first, second, third]: [u64; 4]) {
        self.cause = PASS;
        self.general[STATUS] = status;
        (self.general[0], self.general[1], self.general[2]) = (first, second, third);
    }

    /// The words that it passes.
    #[inline(always)]
    pub fn words(&self) -> Words {
        WORDS.map(|number| self.general[number])
    }

    /// Gives words to the thread; all general registers count, as after an interrupt, and no others: no interrupt that a thread goes on
    /// after has number 0.
    #[inline(always)]
    pub fn pass_all(&mut self, words: Words) {
        let Registers { instruction, stack, .. } = *self;
        *self = Registers { instruction, stack, ..Registers::NONE };
        for (number, word) in WORDS.into_iter().zip(words) {
            self.general[number] = word;
        }
    }

    /// What would be kept of a saved thread: nothing, since all that a thread has here is more than a state has room for. No system with
    /// slots for programs is booted on this processor.
    pub fn kept(&self) -> ThreadState {
        [0; size_of::<ThreadState>() / 8]
    }

    /// See [`Registers::kept`].
    pub fn of_kept(_: &ThreadState) -> Option<Registers> {
        None
    }
}

/// The register with the number of a call, then with its status: x8.
const STATUS: usize = 8;
/// The registers with the words of a call.
const WORDS: [usize; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11];

/// The words of a call in their order. The first is the grant, or who calls; a return has all but the sixth.
pub type Words = [u64; 11];

/// What stays free on the stack above the place where a callee begins, so that the place is inside of it.
pub const RETURN_ADDRESS: u64 = 16;

/// Stands in [`Registers::cause`] for a call: where to go on, and the status, count.
pub const CALL: u64 = 256;
/// Stands in [`Registers::cause`] for a beginning or a return: three words count as well.
pub const PASS: u64 = 257;

/// An exception that an instruction caused.
pub const SYNCHRONOUS: u64 = 1;
/// An error of memory or of a bus that came later.
pub const SYSTEM_ERROR: u64 = 2;
/// An exception that this kernel never lets happen: a fast interrupt, or one from 32-bit code.
pub const UNEXPECTED: u64 = 3;
