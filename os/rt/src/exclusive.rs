//! A value that one user at a time has, and that nobody waits for.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicU32, Ordering};

/// Nothing was put there yet.
const EMPTY: u32 = 0;
/// Somebody is about to put something there.
const FILLING: u32 = 2;
/// It is there, and nobody is given it yet.
const CLOSED: u32 = 4;
/// Somebody has it.
const LENT: u32 = 6;
/// The bit that makes the difference between a value that somebody has and one that nobody has.
const NOBODY: u32 = 1;

/// A value that is lent to one user at a time. Nobody waits: who comes while somebody has it gets nothing.
///
/// **Why it is sound.** Only the state with the bit `NOBODY` lends the value, and one locked instruction takes that bit and tells
/// whether it was there: so of all who try, on whatever core, one gets the value, and nobody else before it has put the bit back.
/// Nothing else is trusted, neither the number of a core that a caller gives nor a lock that is to keep others away: this may
/// stand behind such a lock, and finds out if it fails. It takes three instructions: the bit is taken, looked at, put back.
///
/// What is shared between cores must be such that it can be given from one to another:
///
/// ```compile_fail,E0277
/// static SHARED: tactus_rt::scheduler::Exclusive<*const u8> = tactus_rt::scheduler::Exclusive::new(core::ptr::null());
/// ```
pub struct Exclusive<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: the value is taken by whoever takes the bit `NOBODY`, one at a time, so that sharing it hands it from one to the next.
unsafe impl<T: Send> Sync for Exclusive<T> {}

impl<T> Exclusive<T> {
    /// A value that nobody has.
    pub const fn new(value: T) -> Exclusive<T> {
        Exclusive { state: AtomicU32::new(LENT | NOBODY), value: UnsafeCell::new(MaybeUninit::new(value)) }
    }

    /// No value yet.
    pub const fn empty() -> Exclusive<T> {
        Exclusive { state: AtomicU32::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Puts the value there, once, for nobody before [`Exclusive::open`]; whether this was the first.
    pub fn prepare(&self, value: T) -> bool {
        if !self.becomes(EMPTY, FILLING) {
            return false;
        }
        // SAFETY: only the first comes here, and nobody has a reference before the value is open.
        unsafe { (*self.value.get()).write(value) };
        self.state.store(CLOSED, Ordering::Release);
        true
    }

    /// Lets the value be borrowed; whether it was there and closed.
    pub fn open(&self) -> bool {
        self.becomes(CLOSED, LENT | NOBODY)
    }

    fn becomes(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The value; none if there is none or somebody has it.
    #[inline(always)]
    pub fn borrow(&self) -> Option<Borrowed<'_, T>> {
        // States without the bit stay as they are.
        let taken = self.state.fetch_and(!NOBODY, Ordering::Acquire) & NOBODY != 0;
        taken.then(|| Borrowed { cell: self, value: PhantomData })
    }
}

impl<T> Drop for Exclusive<T> {
    fn drop(&mut self) {
        if *self.state.get_mut() >= CLOSED {
            // SAFETY: it was put there, nobody has it, since this has the cell alone, and nobody will.
            unsafe { self.value.get_mut().assume_init_drop() };
        }
    }
}

/// The only reference to a value, until dropped.
pub struct Borrowed<'a, T> {
    cell: &'a Exclusive<T>,
    value: PhantomData<&'a mut T>,
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: taken with the bit `NOBODY`, which is set only where the value is there, and which is not set before this is dropped.
        unsafe { (*self.cell.value.get()).assume_init_ref() }
    }
}

impl<T> DerefMut for Borrowed<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { (*self.cell.value.get()).assume_init_mut() }
    }
}

impl<T> Drop for Borrowed<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Whoever has the value alone changes the state.
        self.cell.state.store(LENT | NOBODY, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::{rc::Rc, sync::atomic::AtomicU64, thread};

    #[test]
    fn of_four_threads_one_at_a_time_has_the_value_and_the_others_nothing() {
        let value = Exclusive::new([0_u64; 3]);
        let got = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        let Some(mut all) = value.borrow() else {
                            thread::yield_now();
                            continue;
                        };
                        assert!(value.borrow().is_none(), "lent twice");
                        // One step at a time: two at once would leave them different.
                        all.iter_mut().for_each(|one| *one += 1);
                        assert!(all.iter().all(|one| *one == all[0]));
                        got.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let got = got.into_inner();
        assert!(got >= 2_000 && value.borrow().is_some_and(|all| *all == [got; 3]), "{got}");
    }

    #[test]
    fn a_value_is_dropped_with_its_cell_and_what_was_never_there_is_not() {
        let one = Rc::new(());
        drop(Exclusive::new(one.clone()));
        let cell = Exclusive::empty();
        assert!(cell.borrow().is_none() && !cell.open());
        assert!(cell.prepare(one.clone()) && !cell.prepare(one.clone()) && cell.borrow().is_none());
        assert_eq!(Rc::strong_count(&one), 2, "the second was refused");
        assert!(cell.open() && !cell.open());
        // A reference that is never given back leaves the value lent for ever.
        core::mem::forget(cell.borrow());
        assert!(cell.borrow().is_none() && !cell.open());
        drop(cell);
        assert_eq!(Rc::strong_count(&one), 1);
        drop(Exclusive::<Rc<()>>::empty());
    }
}
