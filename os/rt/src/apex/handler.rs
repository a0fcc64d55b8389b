//! Which of the partition's processes is its error handler.

use super::mode;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// The handler's place among the tasks, plus one; 0 if there is none.
static PLACE: AtomicUsize = AtomicUsize::new(0);
/// In which life of the partition it was created.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// The handler's place among the tasks.
pub(super) fn place() -> Option<usize> {
    if CREATED.load(Ordering::Acquire) != mode::life() {
        return None;
    }
    PLACE.load(Ordering::Acquire).checked_sub(1)
}

/// The process at this place is it.
pub(super) fn create(place: usize) {
    PLACE.store(place + 1, Ordering::Release);
    CREATED.store(mode::life(), Ordering::Release);
}
