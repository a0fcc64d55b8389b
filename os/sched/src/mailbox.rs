//! What one core has to tell another: sets of threads, one for each kind of message.
//!
//! A core changes its own threads only. What happens to another core's thread is a message to that core: an entry in its
//! mailbox and an inter-core event. Every message is about one thread, and saying it twice is saying it once, so a mailbox
//! is a set of bits: it is never full, a sender never waits, and a receiver's work is bounded.
//!
//! **Order.** A thread that moves is handed over by its old core: first the thread's record names the new core, then
//! [`Mailbox::adopt`] is posted, and from then on the old core touches nothing of it. A wake-up can overtake the hand-over,
//! so the receiver keeps wake-ups of threads that are on their way to it ([`Mailbox::keep`]); those of threads that have
//! moved on are sent after them. `tests/loom.rs` explores these rules.

use tactus_abi::layout::MAX_THREADS;
use tactus_sync::facade::{AtomicU32, AtomicU64, Ordering};

/// Words of a set.
const WORDS: usize = MAX_THREADS.div_ceil(64);

/// A set of threads that any core may add to and one takes from.
struct Set([AtomicU64; WORDS]);

impl Set {
    #[cfg(not(loom))]
    const fn new() -> Set {
        Set([const { AtomicU64::new(0) }; WORDS])
    }
    #[cfg(loom)]
    fn new() -> Set {
        Set(core::array::from_fn(|_| AtomicU64::new(0)))
    }

    fn add(&self, number: usize) {
        self.0[number / 64].fetch_or(1 << (number % 64), Ordering::AcqRel);
    }

    fn take(&self, mut each: impl FnMut(usize)) {
        for (place, word) in self.0.iter().enumerate() {
            // Most words are empty; a look costs less than an exchange.
            if word.load(Ordering::Acquire) == 0 {
                continue;
            }
            let mut bits = word.swap(0, Ordering::AcqRel);
            while bits != 0 {
                each(place * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}

/// One core's mailbox.
pub struct Mailbox {
    /// Set when anything is added, cleared before anything is taken.
    full: AtomicU64,
    wake: Set,
    adopt: Set,
    free: Set,
}

/// The core that has a thread, if one has it.
pub struct Home(AtomicU32);

/// No core's number.
const NOBODY: u32 = u32::MAX;

impl Home {
    /// Of a thread that nobody has.
    #[cfg(not(loom))]
    pub const fn nobody() -> Home {
        Home(AtomicU32::new(NOBODY))
    }
    /// Of a thread that nobody has.
    #[cfg(loom)]
    pub fn nobody() -> Home {
        Home(AtomicU32::new(NOBODY))
    }

    /// The core.
    #[inline(always)]
    pub fn core(&self) -> Option<u8> {
        let core = self.0.load(Ordering::Acquire);
        (core != NOBODY).then_some(core as u8)
    }

    /// Whether it is this core.
    #[inline(always)]
    pub fn is(&self, core: u8) -> bool {
        self.0.load(Ordering::Acquire) == u32::from(core)
    }

    /// Names another core, or none. From here on this core touches nothing of the thread.
    pub fn set(&self, core: Option<u8>) {
        self.0.store(core.map_or(NOBODY, u32::from), Ordering::Release);
    }
}

/// What becomes of a wake-up that a core found in its mailbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The thread is here: it is woken.
    Wake,
    /// It is on its way here: the wake-up waits for it ([`Mailbox::keep`]).
    Keep,
    /// Another core has it.
    Send(u8),
    /// Nobody has it any more.
    Drop,
}

/// Whether the thread is `here` is for the core to know: it has taken the hand-over, and not given the thread away since.
pub fn fate(home: Option<u8>, core: u8, here: bool) -> Fate {
    match home {
        Some(home) if home != core => Fate::Send(home),
        Some(_) if here => Fate::Wake,
        Some(_) => Fate::Keep,
        None => Fate::Drop,
    }
}

/// What was taken: at most one of each kind for each thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// The thread is this core's from now on.
    Adopt(usize),
    /// Somebody wakes the thread.
    Wake(usize),
    /// The critical section of this component is free.
    Free(usize),
}

impl Mailbox {
    /// An empty one.
    #[cfg(not(loom))]
    pub const fn new() -> Mailbox {
        Mailbox { full: AtomicU64::new(0), wake: Set::new(), adopt: Set::new(), free: Set::new() }
    }
    /// An empty one.
    #[cfg(loom)]
    pub fn new() -> Mailbox {
        Mailbox { full: AtomicU64::new(0), wake: Set::new(), adopt: Set::new(), free: Set::new() }
    }

    /// Asks the owner to wake a thread. The sender then sends the core an event.
    pub fn wake(&self, thread: usize) {
        self.wake.add(thread);
        self.full.store(1, Ordering::Release);
    }

    /// Hands a thread over.
    pub fn adopt(&self, thread: usize) {
        self.adopt.add(thread);
        self.full.store(1, Ordering::Release);
    }

    /// Tells that a component's critical section is free.
    pub fn free(&self, component: usize) {
        self.free.add(component);
        self.full.store(1, Ordering::Release);
    }

    /// Puts back a wake-up of a thread that is on its way here. No event: the hand-over brings one.
    pub fn keep(&self, thread: usize) {
        self.wake.add(thread);
    }

    /// Whether there may be something.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire) != 0
    }

    /// Takes everything: the threads handed over before the wake-ups.
    pub fn take(&self, mut each: impl FnMut(Message)) {
        // An exchange, not a store: it sees all that was added before the mark that it takes.
        self.full.swap(0, Ordering::AcqRel);
        self.adopt.take(|thread| each(Message::Adopt(thread)));
        self.wake.take(|thread| each(Message::Wake(thread)));
        self.free.take(|component| each(Message::Free(component)));
    }
}

impl Default for Mailbox {
    fn default() -> Self {
        Self::new()
    }
}
