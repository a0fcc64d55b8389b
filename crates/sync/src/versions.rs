//! A value of several cores that none of them ever has to wait for, though any of them may be stopped at any time: by a
//! scheduler above that gives the core to somebody else, for as long as it likes. A lock whose holder is stopped so would stop
//! all.
//!
//! Each core changes a copy, and puts it in the place of the value in one step; if another core was faster, it begins again with
//! what that one made. A place is used anew when it is not the value any more and nobody copies from it: a core says which one it
//! copies from before it looks whether that is still the value (Michael, "Hazard Pointers", 2004).

use crate::facade::{barrier, AtomicU32, AtomicU64, Ordering, UnsafeCell};
use core::marker::PhantomData;
use core::ops::Deref;

/// How many bits of a version's number say where it lies.
const PLACE_BITS: u32 = 8;

/// A value, changed by several cores. `P` keeps its [`Place`]s and `C` the cores' words, a `Vec` of each for instance.
pub struct Versions<T, P, C> {
    places: P,
    /// How many changes there were, and the place of the value.
    current: AtomicU64,
    /// By core: the place that it copies from, plus one.
    copied: C,
    value: PhantomData<T>,
}

/// Where a value can lie.
pub struct Place<T> {
    /// One if it is the value, or a core's that makes the next one.
    taken: AtomicU32,
    value: UnsafeCell<T>,
}

impl<T> Place<T> {
    /// A place with a value in it.
    pub fn new(value: T) -> Self {
        Place { taken: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }
}

// SAFETY: a place is written by the core that took it, while nobody copies from it, and read by those that found it to be the
// value, which is not written.
unsafe impl<T: Send + Sync> Sync for Place<T> {}
// SAFETY: it owns its value.
unsafe impl<T: Send> Send for Place<T> {}

/// How many places are needed for so many cores: one is the value, each core makes one, and copies from one.
pub const fn places_for(cores: usize) -> usize {
    2 * cores + 1
}

impl<T, P: Deref<Target = [Place<T>]>, C: Deref<Target = [AtomicU32]>> Versions<T, P, C> {
    /// A word for each core, all zero, and places for them ([`places_for`]). The first has the value.
    pub fn new(places: P, copied: C) -> Self {
        if let Some(first) = places.first() {
            first.taken.store(1, Ordering::Relaxed);
        }
        Versions { places, current: AtomicU64::new(0), copied, value: PhantomData }
    }

    /// Changes the value. `copy` makes its first argument what the second is; `change` is called anew, on a new copy, where
    /// another core was faster. One call at a time for each core, which are counted from 0.
    pub fn change<R>(&self, core: usize, copy: impl Fn(&mut T, &T), mut change: impl FnMut(&mut T) -> R) -> R {
        loop {
            let seen = self.current.load(Ordering::Acquire);
            let from = (seen & ((1 << PLACE_BITS) - 1)) as usize;
            self.copied[core].store(from as u32 + 1, Ordering::Release);
            // Either this core sees that the value is another one now, or whoever takes the place sees that it is copied from.
            barrier();
            if self.current.load(Ordering::Acquire) != seen {
                continue;
            }
            let mine = self.take();
            let result = {
                let own = self.places[mine].value.get_mut();
                // SAFETY: taken by this core, and nobody copies from it.
                let own = unsafe { own.deref() };
                {
                    let old = self.places[from].value.get();
                    // SAFETY: it was the value after this core had said that it copies from it: so nobody takes it.
                    copy(own, unsafe { old.deref() });
                }
                self.copied[core].store(0, Ordering::Release);
                change(own)
            };
            let next = ((seen >> PLACE_BITS) + 1) << PLACE_BITS | mine as u64;
            let put = self.current.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed).is_ok();
            self.places[if put { from } else { mine }].taken.store(0, Ordering::Release);
            if put {
                return result;
            }
        }
    }

    /// Takes a place that nobody uses. There always is one.
    fn take(&self) -> usize {
        loop {
            for (n, place) in self.places.iter().enumerate() {
                if place.taken.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                    continue;
                }
                barrier();
                if self.copied.iter().all(|it| it.load(Ordering::Acquire) != n as u32 + 1) {
                    return n;
                }
                place.taken.store(0, Ordering::Release);
            }
        }
    }
}
