//! What the author of a scheduler of threads writes: seven functions, and the words in which they speak.
//!
//! It decides among kernel threads, which components make and block while the system runs. What a system file declares, tasks and
//! servers, is decided by the policies of `tactus-policy`, which are simulated and replayed.
//!
//! One policy object serves one core. The library calls it inside the core's critical section only, so it needs no lock and
//! is never called twice at a time. Threads that block, wake up or are made while it was not looking are told one by one,
//! in order, before [`ThreadScheduler::schedule`].

use tactus_abi::layout::MAX_THREADS;
use tactus_abi::shared::slot;
use tactus_rt::scheduler::ThreadRegion;

/// A thread, by the kernel's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Thread(pub u16);

impl Thread {
    /// For tables with a place for every thread of an image.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The thread with this number, if an image can have one.
    pub const fn new(number: u64) -> Option<Thread> {
        if number < MAX_THREADS as u64 {
            Some(Thread(number as u16))
        } else {
            None
        }
    }

    /// Its event slot: each thread has the one with its own number, shifted by one since slot 0 is none.
    pub const fn slot(self) -> usize {
        self.0 as usize + 1
    }
}

/// Ticks of the time-stamp counter: a reading, or a length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Default)]
pub struct Cycles(pub u64);

impl Cycles {
    /// A reading that never comes.
    pub const NEVER: Cycles = Cycles(u64::MAX);

    /// So much later; at most [`Cycles::NEVER`].
    #[must_use]
    pub const fn after(self, length: Cycles) -> Cycles {
        Cycles(self.0.saturating_add(length.0))
    }

    /// The length from `earlier` to here; zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Cycles) -> Cycles {
        Cycles(self.0.saturating_sub(earlier.0))
    }
}

/// What a new thread is to be given, in one word, as it crosses between components: bits 0–15 a priority (lower is more
/// urgent), 16–23 a server (0 for none), 24–31 a core + 1 (0: where it is made).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parameters(pub u64);

impl Parameters {
    /// What threads get that nobody gave parameters.
    pub const DEFAULT: Parameters = Parameters(16);

    /// The parameters with this priority.
    pub const fn priority_of(priority: u16) -> Parameters {
        Parameters(priority as u64)
    }
    /// The same with a server.
    #[must_use]
    pub const fn in_server(self, server: u8) -> Parameters {
        Parameters(self.0 & !(0xFF << 16) | (server as u64) << 16)
    }
    /// The same for a core.
    #[must_use]
    pub const fn on_core(self, core: u8) -> Parameters {
        Parameters(self.0 & !(0xFF << 24) | (core as u64 + 1) << 24)
    }
    /// The priority.
    pub const fn priority(self) -> u16 {
        self.0 as u16
    }
    /// The server, 0 for none.
    pub const fn server(self) -> u8 {
        (self.0 >> 16) as u8
    }
    /// The core, if one is named.
    pub const fn core(self) -> Option<u8> {
        ((self.0 >> 24) as u8).checked_sub(1)
    }
}

/// How urgent a thread's interrupts and upcalls are beside the others of this scheduler: lower is more urgent. Written to
/// the shared region, where the kernel reads it when it decides without asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub struct Urgency(pub u16);

impl Urgency {
    /// Never run unasked.
    pub const DISABLED: Urgency = Urgency(slot::DISABLED);
}

/// What [`ThreadScheduler::schedule`] chose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// Who runs; nobody if nobody can.
    pub thread: Option<Thread>,
    /// When the policy wants to be asked again at the latest: a reading of the time-stamp counter.
    pub until: Cycles,
}

/// How time is read.
pub trait Clock {
    /// The time-stamp counter.
    fn now(&self) -> Cycles;
    /// So many nanoseconds in ticks of the time-stamp counter, rounded up.
    fn cycles(&self, nanos: u64) -> Cycles;
    /// So many ticks in nanoseconds, rounded down.
    fn nanos(&self, cycles: Cycles) -> u64;
}

/// The core as a policy sees it while it decides.
pub struct View<'a> {
    pub(crate) region: ThreadRegion,
    pub(crate) clock: &'a dyn Clock,
}

impl View<'_> {
    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        self.clock
    }

    /// Changes a thread's urgency from now on.
    pub fn set_urgency(&self, thread: Thread, urgency: Urgency) {
        self.region.set_urgency(thread.0, urgency.0);
    }
}

/// The policy of one core's threads: all that a scheduler's author writes.
pub trait ThreadScheduler {
    /// A thread is new here: made here, or moved here from another core. It is blocked until it is woken. Its urgency.
    fn thread_new(&mut self, thread: Thread, parameters: Parameters) -> Urgency;
    /// The thread has left for ever, or for another core. It was told as blocked before.
    fn thread_remove(&mut self, thread: Thread);
    /// The thread has used the core for so long.
    fn time_elapsed(&mut self, thread: Thread, used: Cycles);
    /// So many ends of quanta have passed since the last call; several at once where a parent kept the core.
    fn timer_tick(&mut self, ticks: u64);
    /// Who runs now.
    fn schedule(&mut self, view: &View<'_>) -> Choice;
    /// The thread cannot run until it is woken.
    fn thread_block(&mut self, thread: Thread);
    /// The thread can run.
    fn thread_wakeup(&mut self, thread: Thread);
}
