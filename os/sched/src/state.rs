//! What a scheduler keeps: of each core, of each thread.
//!
//! **Whose is what.** A core's state is used inside that core's critical section only. A thread's entry belongs to the core
//! that its record names; that core alone reads or writes it, inside its critical section, or, for its own entry, the
//! thread that runs there. Ownership passes by [`crate::mailbox`] alone.

use crate::mailbox::Home;
use crate::thread_scheduler::{Cycles, Parameters, Thread};
use crate::timeouts::Timeouts;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU16, Ordering};
use tactus_abi::call::NO_TIMEOUT;
use tactus_abi::layout::MAX_THREADS;

/// Whether a thread can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// Not until it is woken.
    Blocked,
    /// In the policy's queues.
    Ready,
    /// In them no more, since the thread that it depends on is blocked.
    Parked,
}

/// A thread, as its owner sees it.
pub(crate) struct Entry {
    pub condition: Condition,
    /// It was woken when it was not blocked: its next block is none.
    pub woken: bool,
    /// What it was made with.
    pub parameters: Parameters,
    /// Who must go on before it can.
    pub holder: Option<Thread>,
    /// The component whose critical section it waits for.
    pub section: Option<u16>,
    /// It may set time-outs.
    pub timed: bool,
}

/// A thread.
pub(crate) struct Record {
    home: Home,
    /// The child that schedules it, + 1; 0 for those that this scheduler's own policy has.
    under: AtomicU16,
    entry: UnsafeCell<Entry>,
}

// SAFETY: `entry` is used by one core at a time, see above.
unsafe impl Sync for Record {}

#[cfg(not(loom))]
impl Record {
    pub const fn new() -> Record {
        Record {
            home: Home::nobody(),
            under: AtomicU16::new(0),
            entry: UnsafeCell::new(Entry {
                condition: Condition::Blocked,
                woken: false,
                parameters: Parameters::DEFAULT,
                holder: None,
                section: None,
                timed: false,
            }),
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

    /// Names another owner. From here on this core touches the entry no more.
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

    /// # Safety
    /// The caller is the owner, see above, and has no other reference to the entry.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub unsafe fn entry(&self) -> &mut Entry {
        // SAFETY: the caller vouches that it is the only one.
        unsafe { &mut *self.entry.get() }
    }
}

/// What a core keeps.
pub(crate) struct State<P> {
    pub policy: P,
    /// What each thread's slot of this core held when it was last read.
    pub seen: [u64; MAX_THREADS],
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
pub struct Core<P> {
    state: UnsafeCell<State<P>>,
}

// SAFETY: the state is used inside the core's critical section only.
unsafe impl<P> Sync for Core<P> {}

impl<P> Core<P> {
    /// A core that runs this policy.
    pub const fn new(policy: P) -> Core<P> {
        Core {
            state: UnsafeCell::new(State {
                policy,
                seen: [0; MAX_THREADS],
                here: [0; MAX_THREADS.div_ceil(64)],
                next_tick: Cycles(NO_TIMEOUT),
                timeouts: Timeouts::new(),
                timeout: Cycles::NEVER,
                parked: 0,
                dependants: false,
                then: 0,
                started: false,
            }),
        }
    }

    /// # Safety
    /// The caller is inside the core's critical section and has no other reference to its state.
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(crate) unsafe fn state(&self) -> &mut State<P> {
        // SAFETY: the caller vouches that it is the only one.
        unsafe { &mut *self.state.get() }
    }
}
