//! What a scheduler keeps: of each core, of each thread.
//!
//! **Whose is what.** A core's state is used inside that core's critical section only, which is checked. A thread's record belongs to
//! the core that it names; that core alone reads or writes it, inside its critical section, or, for its own record, the
//! thread that runs there. Ownership passes by [`crate::mailbox`] alone, which orders what is written. So the words of a record need
//! no order of their own, and are atomics only so that no unsafe code is needed.

use crate::mailbox::Home;
use crate::thread_scheduler::{Cycles, Parameters, Thread};
use crate::timeouts::Timeouts;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, AtomicU8, Ordering};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::layout::MAX_THREADS;
use tactus_rt::scheduler::{Borrowed, Exclusive};

/// Whether a thread can run, and whether it was woken when it was not blocked: then its next block is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Status(u8);

impl Status {
    /// It cannot run until it is woken.
    pub const BLOCKED: Status = Status(0);
    /// In the policy's queues.
    pub const READY: Status = Status(1);
    /// In them no more, since the thread that it depends on is blocked.
    pub const PARKED: Status = Status(2);
    /// Beside any of these.
    const WOKEN: u8 = 4;

    #[inline(always)]
    pub fn is_ready(self) -> bool {
        self.0 & Status::READY.0 != 0
    }

    #[inline(always)]
    pub fn is_parked(self) -> bool {
        self.0 & Status::PARKED.0 != 0
    }

    pub fn is_blocked(self) -> bool {
        !self.is_ready() && !self.is_parked()
    }

    #[inline(always)]
    pub fn is_woken(self) -> bool {
        self.0 & Status::WOKEN != 0
    }

    /// Whether it was woken stays as it is.
    #[inline(always)]
    pub fn but(self, other: Status) -> Status {
        Status(self.0 & Status::WOKEN | other.0)
    }

    #[inline(always)]
    pub fn woken(self, woken: bool) -> Status {
        Status(self.0 & !Status::WOKEN | if woken { Status::WOKEN } else { 0 })
    }
}

/// A thread.
pub(crate) struct Record {
    home: Home,
    status: AtomicU8,
    /// It may set time-outs.
    timed: AtomicBool,
    /// The child that schedules it, + 1; 0 for those that this scheduler's own policy has.
    under: AtomicU16,
    /// What it was made with.
    parameters: AtomicU64,
}

#[cfg(not(loom))]
impl Record {
    pub const fn new() -> Record {
        Record {
            home: Home::nobody(),
            status: AtomicU8::new(Status::BLOCKED.0),
            timed: AtomicBool::new(false),
            under: AtomicU16::new(0),
            parameters: AtomicU64::new(Parameters::DEFAULT.0),
        }
    }
}

impl Record {
    /// The core that has it.
    #[inline(always)]
    pub fn core(&self) -> Option<u8> {
        self.home.core()
    }

    /// Whether this core has it.
    #[inline(always)]
    pub fn is_of(&self, core: u8) -> bool {
        self.home.is(core)
    }

    /// Names another owner. From here on this core touches the record no more.
    pub fn set_core(&self, core: Option<u8>) {
        self.home.set(core);
    }

    /// The child that schedules it.
    #[inline(always)]
    pub fn under(&self) -> Option<usize> {
        (self.under.load(Ordering::Acquire) as usize).checked_sub(1)
    }

    /// It is a child's.
    pub fn set_under(&self, child: usize) {
        self.under.store(child as u16 + 1, Ordering::Release);
    }

    /// Whether it can run.
    #[inline(always)]
    pub fn status(&self) -> Status {
        Status(self.status.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub fn set_status(&self, status: Status) {
        self.status.store(status.0, Ordering::Relaxed);
    }

    /// Whether it may set time-outs.
    pub fn is_timed(&self) -> bool {
        self.timed.load(Ordering::Relaxed)
    }

    /// It may set time-outs.
    pub fn set_timed(&self) {
        self.timed.store(true, Ordering::Relaxed);
    }

    /// What it was made with.
    pub fn parameters(&self) -> Parameters {
        Parameters(self.parameters.load(Ordering::Relaxed))
    }

    pub fn set_parameters(&self, parameters: Parameters) {
        self.parameters.store(parameters.0, Ordering::Relaxed);
    }
}

/// What a thread waits for.
#[derive(Clone, Copy)]
pub(crate) struct Wait {
    /// A thread + 1; 0 for none.
    holder: u16,
    /// A component + 1; 0 for none.
    section: u16,
}

impl Wait {
    pub const NONE: Wait = Wait { holder: 0, section: 0 };

    /// Who must go on before it can: it stays in the policy's queues meanwhile.
    #[inline(always)]
    pub fn holder(self) -> Option<Thread> {
        self.holder.checked_sub(1).map(Thread)
    }

    #[inline(always)]
    pub fn set_holder(&mut self, holder: Option<Thread>) {
        self.holder = holder.map_or(0, |thread| thread.0 + 1);
    }

    /// The component whose critical section it waits for, whether in the queues or not.
    pub fn section(self) -> Option<u16> {
        self.section.checked_sub(1)
    }

    pub fn set_section(&mut self, component: u16) {
        self.section = component + 1;
    }
}

/// What a core keeps.
pub(crate) struct State<P> {
    pub policy: P,
    /// What each thread's slot of this core held when it was last read.
    pub seen: [u64; MAX_THREADS],
    /// What each of this core's threads waits for.
    pub waits: [Wait; MAX_THREADS],
    /// The threads that this core has, as bits.
    pub here: [u64; MAX_THREADS.div_ceil(64)],
    /// When the present quantum ends.
    pub next_tick: Cycles,
    pub timeouts: Timeouts,
    /// The time-out that goes with the last choice.
    pub timeout: Cycles,
    /// How many threads are [`Condition::Parked`].
    pub parked: usize,
    /// Some thread may depend on another one.
    pub dependants: bool,
    /// What a thread's last dispatch passes that goes on at its caller: the flag for that, if the kernel and this scheduler alone
    /// dispatch its threads.
    pub then: u64,
    /// Whether this core has its children.
    pub started: bool,
}

/// A core's policy, and what the library keeps beside it.
pub struct Core<P>(Exclusive<State<P>>);

impl<P> Core<P> {
    /// A core that runs this policy.
    pub const fn new(policy: P) -> Core<P> {
        Core(Exclusive::new(State {
            policy,
            seen: [0; MAX_THREADS],
            waits: [Wait::NONE; MAX_THREADS],
            here: [0; MAX_THREADS.div_ceil(64)],
            next_tick: Cycles(NO_TIMEOUT),
            timeouts: Timeouts::new(),
            timeout: Cycles::NEVER,
            parked: 0,
            dependants: false,
            then: 0,
            started: false,
        }))
    }

    /// The state. Inside the core's critical section, where nobody else has it.
    #[inline(always)]
    pub(crate) fn state(&self) -> Borrowed<'_, State<P>> {
        match self.0.borrow() {
            Some(state) => state,
            None => two_are_inside(),
        }
    }
}

/// A thread of this core runs on another one, or somebody named a wrong core.
#[cold]
#[inline(never)]
fn two_are_inside() -> ! {
    panic!("two threads are inside the critical section of one core")
}
