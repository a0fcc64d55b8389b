//! Values that live as long as the component: one for each core, of which one user at a time has the only reference; and one
//! that never changes once it is set.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU8, Ordering};
use tactus_abi::layout::MAX_CORES;

/// Nothing was put there yet.
const EMPTY: u8 = 0;
const FREE: u8 = 1;
const BORROWED: u8 = 2;

/// A value for each core. Borrowing is checked, so that not even a scheduler whose lock fails has two references to one.
pub struct PerCore<T> {
    cells: [UnsafeCell<Option<T>>; MAX_CORES],
    states: [AtomicU8; MAX_CORES],
}

// SAFETY: a value is reached only by whoever changed its state to `BORROWED`, one at a time.
unsafe impl<T: Send> Sync for PerCore<T> {}

impl<T> PerCore<T> {
    /// No values yet.
    pub const fn new() -> PerCore<T> {
        PerCore {
            cells: [const { UnsafeCell::new(None) }; MAX_CORES],
            states: [const { AtomicU8::new(EMPTY) }; MAX_CORES],
        }
    }

    /// Puts the core's value there, once; whether this was the first.
    pub fn put(&self, core: u8, value: T) -> bool {
        let core = usize::from(core) % MAX_CORES;
        let state = &self.states[core];
        if state.compare_exchange(EMPTY, BORROWED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        // SAFETY: nobody else changes the state from `BORROWED`.
        unsafe { *self.cells[core].get() = Some(value) };
        state.store(FREE, Ordering::Release);
        true
    }

    /// The core's value; none if there is none or somebody has it.
    #[inline(always)]
    pub fn borrow(&self, core: u8) -> Option<Borrowed<'_, T>> {
        let core = usize::from(core) % MAX_CORES;
        let state = &self.states[core];
        state.compare_exchange(FREE, BORROWED, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // SAFETY: the state was `FREE`, and is this value's now.
        match unsafe { (*self.cells[core].get()).as_mut() } {
            Some(value) => Some(Borrowed { value, state }),
            None => None,
        }
    }
}

impl<T> Default for PerCore<T> {
    fn default() -> PerCore<T> {
        PerCore::new()
    }
}

/// The only reference to a core's value.
pub struct Borrowed<'a, T> {
    value: &'a mut T,
    state: &'a AtomicU8,
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for Borrowed<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}

impl<T> Drop for Borrowed<'_, T> {
    fn drop(&mut self) {
        self.state.store(FREE, Ordering::Release);
    }
}

/// A value that is set once and never changed.
pub struct Once<T> {
    cell: UnsafeCell<Option<T>>,
    state: AtomicU8,
}

// SAFETY: written once, before the state is `FREE`; only shared references are given out afterwards.
unsafe impl<T: Send + Sync> Sync for Once<T> {}

impl<T> Once<T> {
    /// Not set.
    pub const fn new() -> Once<T> {
        Once { cell: UnsafeCell::new(None), state: AtomicU8::new(EMPTY) }
    }

    /// Sets the value.
    ///
    /// # Panics
    /// If it was set before.
    pub fn set(&self, value: T) -> &T {
        let first = self.state.compare_exchange(EMPTY, BORROWED, Ordering::Acquire, Ordering::Relaxed);
        assert!(first.is_ok(), "set twice");
        // SAFETY: only the first comes here, and no reference is given out before the state is `FREE`.
        unsafe { *self.cell.get() = Some(value) };
        self.state.store(FREE, Ordering::Release);
        match self.get() {
            Some(value) => value,
            None => unreachable!("it has just been set"),
        }
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != FREE {
            return None;
        }
        // SAFETY: written before the state became `FREE`, and not changed since.
        unsafe { (*self.cell.get()).as_ref() }
    }
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_user_at_a_time_and_each_core_its_own() {
        static CORES: PerCore<u32> = PerCore::new();
        assert!(CORES.borrow(0).is_none(), "nothing was put there");
        assert!(CORES.put(0, 5) && CORES.put(1, 7) && !CORES.put(0, 6), "once for each core");
        let mut first = CORES.borrow(0).expect("it is free");
        *first += 1;
        assert!(CORES.borrow(0).is_none() && CORES.borrow(1).is_some_and(|second| *second == 7));
        drop(first);
        assert!(CORES.borrow(0).is_some_and(|again| *again == 6));
    }

    #[test]
    fn a_value_that_is_set_stays() {
        static ONCE: Once<u32> = Once::new();
        assert!(ONCE.get().is_none());
        assert_eq!((*ONCE.set(3), ONCE.get()), (3, Some(&3)));
    }

    #[test]
    #[should_panic(expected = "set twice")]
    fn a_value_cannot_be_set_twice() {
        let once = Once::new();
        once.set(1);
        once.set(2);
    }
}
