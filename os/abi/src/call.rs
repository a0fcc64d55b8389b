//! The kernel's calls and their errors.
//!
//! A call is the `syscall` instruction with the call's number in `rax` and arguments in `rdi`, `rsi`, `rdx`, `r10`,
//! `r8`, `r9`. It returns an [`Error`] number in `rax` (0 is success) and values, where there are any, in `rdi` and
//! `rsi`. All other registers except `rsp` come back changed: an invocation crosses to code that nobody trusts. The null
//! call changes only `rax`, `rcx` and `r11`.

/// The calls. Meaning and order of checks: `docs/kernel-calls.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Call {
    /// Does nothing. For measuring.
    Null = 0,
    /// `(grant, a0, a1, a2, a3, a4)`: the thread goes on in the component that the grant names, at the grant's entry,
    /// with who called in `rdi` ([`Caller`]) and `a0`… in `rsi`, `rdx`, `r10`, `r8`, `r9`; all other registers are cleared.
    Invoke = 1,
    /// `(v0, v1)`: back to the component that invoked this one; it finds success in `rax`, `v0` in `rdi`, `v1` in `rsi`.
    Return = 2,
    /// `(thread, flags, time-out)`: dispatches a thread on this core. Schedulers only.
    SwitchThread = 3,
    /// `(core)`: sends an inter-core event to the scheduler of another core. Schedulers only.
    Notify = 4,
    /// `(length, w0, w1, w2, w3)`: up to 32 bytes of text to the console. Schedulers only.
    Text = 5,
    /// `(code)`: ends the run of the whole machine. The root scheduler only.
    Finish = 6,
    /// `()`: the component gives up: as if it had faulted.
    Panic = 7,
}

/// Who invoked a component, as the kernel tells it; a component cannot forge it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller(pub u64);

impl Caller {
    /// The component that made the call.
    pub const fn component(self) -> u16 {
        self.0 as u16
    }
    /// The thread that came in.
    pub const fn thread(self) -> u16 {
        (self.0 >> 16) as u16
    }
    /// The core on which it came in. It may have moved on when it was preempted since.
    pub const fn core(self) -> u8 {
        (self.0 >> 32) as u8
    }
}

/// Why a call was refused. Each failure has its own number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Error {
    /// Success.
    None = 0,
    /// An event is pending for this scheduler, or its shared `next_thread` is not the thread named: decide again.
    Again = 1,
    /// The thread is still running on another core, which has not saved it yet: try again.
    Busy = 2,
    /// No such call.
    BadCall = 3,
    /// The caller's component is not a scheduler.
    NotScheduler = 4,
    /// No such thread.
    BadThread = 5,
    /// The thread can never run again: its component was stopped.
    ThreadStopped = 6,
    /// The caller may not schedule this thread.
    NoRight = 7,
    /// The component has no such grant.
    NotGranted = 8,
    /// The component called was stopped after a fault.
    ComponentStopped = 9,
    /// The thread has entered as many components as it can.
    TooDeep = 10,
    /// There is no invocation to return from.
    NothingToReturn = 11,
    /// No such core.
    BadCore = 12,
    /// The component faulted during the call and was stopped; what it did before is not undone.
    Faulted = 13,
    /// An argument has a value that the call does not know.
    BadArgument = 14,
    /// The thread is an upcall that is not active.
    NotActive = 15,
}

impl Error {
    /// The error with this number.
    pub const fn from_u64(n: u64) -> Option<Error> {
        Some(match n {
            0 => Error::None,
            1 => Error::Again,
            2 => Error::Busy,
            3 => Error::BadCall,
            4 => Error::NotScheduler,
            5 => Error::BadThread,
            6 => Error::ThreadStopped,
            7 => Error::NoRight,
            8 => Error::NotGranted,
            9 => Error::ComponentStopped,
            10 => Error::TooDeep,
            11 => Error::NothingToReturn,
            12 => Error::BadCore,
            13 => Error::Faulted,
            14 => Error::BadArgument,
            15 => Error::NotActive,
            _ => return None,
        })
    }
}

/// Flag of [`Call::SwitchThread`]: the calling upcall is finished and need not be resumed.
pub const SWITCH_UPCALL_DONE: u64 = 1;

/// The thread number that stands for "nothing to run": the core sleeps until an event.
pub const IDLE: u64 = u64::MAX;

/// The time-out that never comes.
pub const NO_TIMEOUT: u64 = u64::MAX;
