//! A value of a component that one thread at a time uses.

use crate::calls;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that is put there once and used by one thread at a time. Who comes in while somebody is inside stops the component:
/// nobody waits here, since whoever is inside may be preempted by the one who comes.
pub struct Single<T> {
    busy: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: whoever reaches the value has set `busy`, which was not set before.
unsafe impl<T: Send> Sync for Single<T> {}

impl<T> Single<T> {
    /// Not usable before [`Single::fill`].
    pub const fn new() -> Single<T> {
        Single { busy: AtomicBool::new(false), value: UnsafeCell::new(None) }
    }

    /// Puts the value there, in place of any other.
    pub fn fill(&self, value: T) {
        self.inside(|place| *place = Some(value));
    }

    /// Uses the value. Whoever comes before there is one stops the component.
    pub fn with<R>(&self, action: impl FnOnce(&mut T) -> R) -> R {
        self.inside(|place| match place {
            Some(value) => action(value),
            None => calls::give_up(),
        })
    }

    /// Uses the value, which is put there first if there is none.
    pub fn with_first<R>(&self, first: impl FnOnce() -> T, action: impl FnOnce(&mut T) -> R) -> R {
        self.inside(|place| action(place.get_or_insert_with(first)))
    }

    fn inside<R>(&self, action: impl FnOnce(&mut Option<T>) -> R) -> R {
        if self.busy.swap(true, Ordering::Acquire) {
            calls::give_up();
        }
        // SAFETY: `busy` was not set, so nobody is inside; it is set now.
        let result = action(unsafe { &mut *self.value.get() });
        self.busy.store(false, Ordering::Release);
        result
    }
}

impl<T> Default for Single<T> {
    fn default() -> Single<T> {
        Single::new()
    }
}
