//! Values that live as long as the component: one for each core, of which one user at a time has the only reference; and one
//! that never changes once it is set.

use crate::exclusive::{Borrowed, Exclusive};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU8, Ordering};
use tactus_abi::layout::MAX_CORES;

/// A value for each core. Borrowing is checked, so that not even a scheduler whose lock fails has two references to one.
pub struct PerCore<T> {
    cells: [Exclusive<T>; MAX_CORES],
}

impl<T> PerCore<T> {
    /// No values yet.
    pub const fn new() -> PerCore<T> {
        PerCore { cells: [const { Exclusive::empty() }; MAX_CORES] }
    }

    #[inline(always)]
    fn cell(&self, core: u8) -> &Exclusive<T> {
        &self.cells[usize::from(core) % MAX_CORES]
    }

    /// Puts the core's value there, once, for nobody before [`PerCore::open`]; whether this was the first.
    pub fn prepare(&self, core: u8, value: T) -> bool {
        self.cell(core).prepare(value)
    }

    /// Lets the core's value be borrowed; whether it was there and closed.
    pub fn open(&self, core: u8) -> bool {
        self.cell(core).open()
    }

    /// Puts the core's value there, once; whether this was the first.
    pub fn put(&self, core: u8, value: T) -> bool {
        self.prepare(core, value) && self.open(core)
    }

    /// The core's value; none if there is none or somebody has it.
    #[inline(always)]
    pub fn borrow(&self, core: u8) -> Option<Borrowed<'_, T>> {
        self.cell(core).borrow()
    }
}

impl<T> Default for PerCore<T> {
    fn default() -> PerCore<T> {
        PerCore::new()
    }
}

/// Nothing is there yet.
const EMPTY: u8 = 0;
/// Somebody is about to put something there.
const FILLING: u8 = 1;
/// It is there.
const OPEN: u8 = 2;

/// A value that is set once and never changed.
pub struct Once<T> {
    cell: UnsafeCell<Option<T>>,
    state: AtomicU8,
}

// SAFETY: written once, before the state is `OPEN`; only shared references are given out afterwards.
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
        let first = self.state.compare_exchange(EMPTY, FILLING, Ordering::Acquire, Ordering::Relaxed);
        assert!(first.is_ok(), "set twice");
        // SAFETY: only the first comes here, and no reference is given out before the state is `OPEN`.
        unsafe { *self.cell.get() = Some(value) };
        self.state.store(OPEN, Ordering::Release);
        match self.get() {
            Some(value) => value,
            None => unreachable!("it has just been set"),
        }
    }

    /// The value, if it is set.
    pub fn get(&self) -> Option<&T> {
        if self.state.load(Ordering::Acquire) != OPEN {
            return None;
        }
        // SAFETY: written before the state became `OPEN`, and not changed since.
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
    fn nobody_has_a_value_before_it_is_open() {
        let cores = PerCore::new();
        assert!(!cores.open(1), "nothing was put there");
        assert!(cores.prepare(1, 5) && cores.borrow(1).is_none());
        assert!(cores.open(1) && cores.borrow(1).is_some_and(|value| *value == 5));
        let _borrowed = cores.borrow(1);
        assert!(!cores.open(1) && cores.borrow(1).is_none(), "opening it again frees nothing");
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
