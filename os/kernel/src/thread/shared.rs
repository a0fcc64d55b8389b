//! The part of a thread that any core may look at, whoever has the thread.
//!
//! A reference to the whole would claim that its plain fields stay as they are; the owner writes them at any time.

#[cfg(feature = "fault-injection")]
use super::NOBODY;
use super::{get, mark, Thread, STATE_BITS};
use crate::path::Path;
use core::sync::atomic::{AtomicU64, Ordering};

/// A thread that another core may have: what may be looked at all the same, without a claim on the rest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SharedThread(*const Thread);

impl SharedThread {
    /// The thread with this number, if it is in use.
    pub fn of(number: u64) -> Option<SharedThread> {
        get(number).map(|thread| SharedThread(thread.cast_const()))
    }

    /// Whether it is this one.
    pub fn is(self, thread: *const Thread) -> bool {
        core::ptr::eq(self.0, thread)
    }

    /// Its number.
    pub fn id(self) -> u16 {
        // SAFETY: a place of the table; the number is written during set-up only.
        unsafe { (&raw const (*self.0).id).read() }
    }

    fn hold(self) -> &'static AtomicU64 {
        // SAFETY: a place of the table, which is never moved; an atomic.
        unsafe { &(*self.0).hold }
    }

    /// The schedulers over it.
    pub fn path(self) -> &'static Path {
        // SAFETY: as above; `get` found a path, and paths are of atomics and never moved.
        unsafe { &*(*self.0).path_used.load(Ordering::Relaxed) }
    }

    /// Whether the core has it.
    pub fn is_owned_by(self, core: u64) -> bool {
        self.hold().load(Ordering::Relaxed) & !STATE_BITS == mark(core)
    }

    /// Takes it for the core if nobody has it and it is an ordinary thread that may run.
    #[cfg(feature = "fault-injection")]
    pub fn take_idle(self, core: u64) -> bool {
        self.hold().compare_exchange(NOBODY, mark(core), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives it up.
    #[cfg(feature = "fault-injection")]
    pub fn release(self) {
        self.hold().fetch_and(STATE_BITS, Ordering::Release);
    }
}
