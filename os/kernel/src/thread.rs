//! Threads: registers, the stack of components that the thread is inside of, the path of schedulers over it.
//!
//! **A thread is on one core at a time.** [`Thread::owner`] names the core that runs it or holds its registers in use;
//! a core takes a thread with [`Thread::take`], which fails while another core owns it, and gives it up with
//! [`Thread::release`] only when its registers are saved. All other fields belong to the owner.

use crate::arch::entry::{Registers, VECTOR_PASS};
use crate::component;
use core::sync::atomic::{AtomicU8, Ordering};
use tactus_abi::layout::{MAX_INVOCATIONS, MAX_SCHEDULERS, MAX_THREADS, STACKS, STACK_STRIDE};

/// Stands in [`Thread::owner`] for no core; core `c` is stored as `c + 1`, so that the table is all zeros at first.
const NOBODY: u8 = 0;

/// Where a caller goes on when the thread returns to it. Known to the entry code.
#[derive(Clone, Copy, Default)]
pub struct Frame {
    /// The calling component.
    pub component: u16,
    /// Its instruction.
    pub rip: u64,
    /// Its stack.
    pub rsp: u64,
}

/// What a thread is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Runs a task's jobs.
    Task,
    /// Runs upcalls of a core's scheduler: begins anew each time.
    Upcall,
}

/// A thread. Known to the entry code.
#[repr(C, align(64))]
pub struct Thread {
    /// Saved registers; first, since the entry code relies on it.
    pub registers: Registers,
    /// The component that it is in.
    pub component: u16,
    /// How many of `frames` count.
    pub depth: u8,
    /// What it is for.
    pub role: Role,
    /// Whether an upcall is running or to be resumed.
    pub active: bool,
    /// It can never run again.
    pub stopped: bool,
    /// Its number.
    pub id: u16,
    owner: AtomicU8,
    /// The callers to return to.
    pub frames: [Frame; MAX_INVOCATIONS],
    /// The schedulers over it, root first.
    pub path: [Option<u16>; MAX_SCHEDULERS],
    /// Time-stamp ticks it has used.
    pub used: u64,
    /// What it is told when it begins.
    pub argument: u64,
    /// Its part of what an invoked component is told about its caller ([`tactus_abi::call::Caller`]).
    pub caller: u64,
    /// The stack pointer with which it enters a component: as if just called. A thread has one place for its stack,
    /// the same in every component; where the component has none for it, the first push faults.
    pub fresh_stack: u64,
}

impl Thread {
    // Copied into the table once, never used by itself.
    #[allow(clippy::declare_interior_mutable_const)]
    const EMPTY: Thread = Thread {
        registers: Registers {
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
        },
        component: 0,
        depth: 0,
        role: Role::Task,
        active: false,
        stopped: false,
        id: 0,
        owner: AtomicU8::new(NOBODY),
        frames: [Frame { component: 0, rip: 0, rsp: 0 }; MAX_INVOCATIONS],
        path: [None; MAX_SCHEDULERS],
        used: 0,
        argument: 0,
        caller: 0,
        fresh_stack: 0,
    };

    /// Upper end of the register area.
    pub fn registers_end(&self) -> u64 {
        (&raw const self.registers) as u64 + core::mem::size_of::<Registers>() as u64
    }

    /// Gives the thread its number.
    pub fn number(&mut self, id: u16) {
        self.id = id;
        self.caller = u64::from(id) << 16;
        self.fresh_stack = STACKS + (u64::from(id) + 1) * STACK_STRIDE - 8;
    }

    /// Sets the thread to its beginning in the component that it is in.
    pub fn begin(&mut self, reason: u64, argument: u64) {
        self.depth = 0;
        let entry = component::get(self.component).entry;
        self.go_on(entry, self.fresh_stack, [0, reason, argument, self.id.into()]);
    }

    /// Lets the thread go on here with `rax`, `rdi`, `rsi` and `rdx` as given and all other registers cleared.
    fn go_on(&mut self, rip: u64, rsp: u64, [rax, rdi, rsi, rdx]: [u64; 4]) {
        let registers = &mut self.registers;
        registers.vector = VECTOR_PASS;
        (registers.rip, registers.rsp) = (rip, rsp);
        (registers.rax, registers.rdi, registers.rsi, registers.rdx) = (rax, rdi, rsi, rdx);
    }

    /// Goes back to the caller's place, with a status and two values; whether there was one.
    pub fn pop(&mut self, status: u64, values: [u64; 2]) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return false };
        let frame = self.frames[depth as usize];
        self.depth = depth;
        self.component = frame.component;
        self.go_on(frame.rip, frame.rsp, [status, values[0], values[1], 0]);
        true
    }

    /// The scheduler at this depth of its path.
    pub fn scheduler(&self, depth: u8) -> Option<u16> {
        self.path.get(depth as usize).copied().flatten()
    }

    /// Takes the thread for a core: waits for nothing, fails while another core has it.
    pub fn take(&self, core: u64) -> bool {
        let core = core as u8 + 1;
        match self.owner.compare_exchange(NOBODY, core, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => true,
            Err(owner) => owner == core,
        }
    }

    /// Gives the thread up: from here on any core may take it. Its registers must be saved.
    pub fn release(&self) {
        self.owner.store(NOBODY, Ordering::Release);
    }
}

static mut THREADS: [Thread; MAX_THREADS] = [const { Thread::EMPTY }; MAX_THREADS];

/// The thread with this number, if there is one.
pub fn get(number: u64) -> Option<*mut Thread> {
    if number >= MAX_THREADS as u64 {
        return None;
    }
    // SAFETY: in bounds by the line above.
    let thread = unsafe { (&raw mut THREADS).cast::<Thread>().add(number as usize) };
    // SAFETY: paths are written during set-up and only read afterwards; no thread without a scheduler exists.
    unsafe { (*thread).path[0].is_some().then_some(thread) }
}

/// The table's entry, for setting it up.
pub fn slot(number: usize) -> *mut Thread {
    assert!(number < MAX_THREADS);
    // SAFETY: in bounds by the line above.
    unsafe { (&raw mut THREADS).cast::<Thread>().add(number) }
}
