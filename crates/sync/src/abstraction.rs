//! Models in two steps: the ticket lock is checked by itself, and what is built on it may take it for granted.
//!
//! A lock taken for granted is loom's own mutex. Its waiters sleep instead of spinning, which makes models with three
//! cores finite, and a wrong lock order is reported as the deadlock that it is. Only models have this.

use std::sync::atomic::{AtomicBool, Ordering};

static GRANTED: AtomicBool = AtomicBool::new(false);

/// From now on, all locks made in this program are taken for granted.
pub fn grant_locks() {
    GRANTED.store(true, Ordering::Relaxed);
}

pub(crate) fn locks_are_granted() -> bool {
    GRANTED.load(Ordering::Relaxed)
}
