//! A ticket spin lock: cores get it in the order in which they asked, so the wait is bounded by the number of cores
//! times the longest stay. It says nothing about preemption: its users run where no preemption happens.
//!
//! Several locks of one rank can be held only together: two at once ([`lock_two`]) or a whole row ([`lock_all`]), both
//! in the order of the row, so that the order within a rank is settled as well.

#[cfg(loom)]
use crate::abstraction;
use crate::facade::{AtomicU32, MutPtr, Ordering, Patience, UnsafeCell};
use crate::order::{check_order, Order, Rank};
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

/// Data that several cores share, at one place in the order of locks.
pub struct Lock<T, R: Rank> {
    /// The number that the next core to ask will get.
    next: AtomicU32,
    /// The number whose turn it is.
    serving: AtomicU32,
    value: UnsafeCell<T>,
    rank: PhantomData<fn(R)>,
    /// Where a model takes the lock for granted: what stands in for the two numbers.
    #[cfg(loom)]
    granted: Option<loom::sync::Mutex<()>>,
}

// SAFETY: the value is reached only through a guard, and only one guard exists at a time (see `lock`), so sharing
// the lock hands the value from core to core, which `T: Send` allows.
unsafe impl<T: Send, R: Rank> Sync for Lock<T, R> {}
// SAFETY: the lock owns its value; sending one sends the other.
unsafe impl<T: Send, R: Rank> Send for Lock<T, R> {}

impl<T, R: Rank> Lock<T, R> {
    /// A lock that nobody holds.
    #[cfg(not(any(loom, shuttle)))]
    pub const fn new(value: T) -> Self {
        Lock { next: AtomicU32::new(0), serving: AtomicU32::new(0), value: UnsafeCell::new(value), rank: PhantomData }
    }

    /// A lock that nobody holds.
    #[cfg(any(loom, shuttle))]
    pub fn new(value: T) -> Self {
        Lock {
            next: AtomicU32::new(0),
            serving: AtomicU32::new(0),
            value: UnsafeCell::new(value),
            rank: PhantomData,
            #[cfg(loom)]
            granted: abstraction::locks_are_granted().then(|| loom::sync::Mutex::new(())),
        }
    }

    /// Waits for the core's turn and takes the lock. `order` tells what the core holds already; it is given back
    /// when the guard is dropped. Does not compile unless this lock's rank is below.
    #[inline]
    pub fn lock<'a, Held: Rank>(&'a self, order: &'a mut Order<Held>) -> Guard<'a, T, R> {
        check_order::<R, Held>();
        let _ = order;
        self.wait()
    }

    /// Takes the lock if nobody has it and nobody waits for it.
    #[inline]
    pub fn try_lock<'a, Held: Rank>(&'a self, order: &'a mut Order<Held>) -> Option<Guard<'a, T, R>> {
        check_order::<R, Held>();
        let _ = order;
        #[cfg(loom)]
        if let Some(mutex) = &self.granted {
            let held = mutex.try_lock().ok()?;
            let value = ManuallyDrop::new(self.value.get_mut());
            return Some(Guard { lock: self, ticket: 0, value, order: Order::holding(), granted: Some(held) });
        }
        // Acquires what the last holder released. If the next number is still the one being served, nobody is
        // ahead, and taking it is taking the lock.
        let ticket = self.serving.load(Ordering::Acquire);
        let next = ticket.wrapping_add(1);
        self.next.compare_exchange(ticket, next, Ordering::Relaxed, Ordering::Relaxed).ok()?;
        Some(Guard {
            lock: self,
            ticket,
            value: ManuallyDrop::new(self.value.get_mut()),
            order: Order::holding(),
            #[cfg(loom)]
            granted: None,
        })
    }

    /// Waits for the turn. That the order allows it is the caller's concern.
    #[inline]
    fn wait(&self) -> Guard<'_, T, R> {
        #[cfg(loom)]
        if let Some(mutex) = &self.granted {
            // A poisoned model has failed already.
            let held = mutex.lock().unwrap();
            let value = ManuallyDrop::new(self.value.get_mut());
            return Guard { lock: self, ticket: 0, value, order: Order::holding(), granted: Some(held) };
        }
        // The number alone decides nothing, so no ordering is needed; the load below orders the value.
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::default();
        while self.serving.load(Ordering::Acquire) != ticket {
            patience.wait();
        }
        Guard {
            lock: self,
            ticket,
            value: ManuallyDrop::new(self.value.get_mut()),
            order: Order::holding(),
            #[cfg(loom)]
            granted: None,
        }
    }
}

/// The right to use what a [`Lock`] guards, until dropped.
pub struct Guard<'a, T, R: Rank> {
    lock: &'a Lock<T, R>,
    ticket: u32,
    /// Given up before the lock is, which the order of fields could not say.
    value: ManuallyDrop<MutPtr<T>>,
    order: Order<R>,
    #[cfg(loom)]
    granted: Option<loom::sync::MutexGuard<'a, ()>>,
}

/// Takes two locks of one row, the one that stands first in it first, whichever way they are named. The guards come
/// back as they were named.
///
/// # Panics
/// If the row lacks one of them, or they are the same: nobody can hold a lock twice.
#[inline]
pub fn lock_two<'a, T, R: Rank, Held: Rank>(
    row: &'a [Lock<T, R>],
    one: usize,
    other: usize,
    order: &'a mut Order<Held>,
) -> (Guard<'a, T, R>, Guard<'a, T, R>) {
    check_order::<R, Held>();
    let _ = order;
    assert!(one != other, "lock {one} was to be taken twice at once");
    if one < other {
        let first = row[one].wait();
        let second = row[other].wait();
        (first, second)
    } else {
        let second = row[other].wait();
        let first = row[one].wait();
        (first, second)
    }
}

/// Takes all locks of a row, the first first, and gives each guard to `keep`, which has to keep it.
#[inline]
pub fn lock_all<'a, T, R: Rank, Held: Rank>(
    row: &'a [Lock<T, R>],
    order: &'a mut Order<Held>,
    mut keep: impl FnMut(Guard<'a, T, R>),
) {
    check_order::<R, Held>();
    let _ = order;
    for lock in row {
        keep(lock.wait());
    }
}

impl<T, R: Rank> Guard<'_, T, R> {
    /// The guarded value, and the right to take locks of lower ranks meanwhile.
    #[inline]
    pub fn parts(&mut self) -> (&mut T, &mut Order<R>) {
        // SAFETY: the guard exists only while its number is being served, numbers are given out once (there are far
        // fewer cores than numbers), and the borrow of the guard keeps this reference alone.
        (unsafe { MutPtr::deref(&self.value) }, &mut self.order)
    }
}

impl<T, R: Rank> Deref for Guard<'_, T, R> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: as in `parts`; shared borrows of the guard give out shared references only.
        unsafe { MutPtr::deref(&self.value) }
    }
}

impl<T, R: Rank> DerefMut for Guard<'_, T, R> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.parts().0
    }
}

impl<T, R: Rank> Drop for Guard<'_, T, R> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: nothing uses the pointer after this, the guard being on its way out.
        unsafe { ManuallyDrop::drop(&mut self.value) };
        #[cfg(loom)]
        if self.granted.take().is_some() {
            return;
        }
        // Only the holder writes this, so no read-modify-write is needed.
        self.lock.serving.store(self.ticket.wrapping_add(1), Ordering::Release);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::vec::Vec;

    struct Only;
    impl Rank for Only {
        const NUMBER: u32 = 1;
    }

    #[test]
    fn four_threads_lose_no_increment() {
        let lock: Lock<u64, Only> = Lock::new(0);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        let mut order = Order::unlocked();
                        for _ in 0..500 {
                            *lock.lock(&mut order) += 1;
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        });
        assert_eq!(*lock.lock(&mut Order::unlocked()), 2_000);
    }

    #[test]
    fn two_locks_of_a_row_named_either_way_are_taken_without_deadlock() {
        let row: Vec<Lock<u64, Only>> = (0..3).map(|_| Lock::new(0)).collect();
        let row = &row;
        std::thread::scope(|scope| {
            for (one, other) in [(0, 2), (2, 0), (1, 2), (2, 1)] {
                scope.spawn(move || {
                    let mut order = Order::unlocked();
                    for _ in 0..300 {
                        let (mut a, mut b) = lock_two(row, one, other, &mut order);
                        *a += 1;
                        *b += 1;
                    }
                });
            }
        });
        let mut order = Order::unlocked();
        let mut held = Vec::new();
        lock_all(row, &mut order, |guard| held.push(guard));
        assert_eq!(held.iter().map(|guard| **guard).collect::<Vec<_>>(), [600, 600, 1_200]);
    }

    #[test]
    fn the_lock_works_on_when_its_numbers_wrap_around() {
        let lock: Lock<u64, Only> = Lock::new(0);
        lock.next.store(u32::MAX - 1, Ordering::Relaxed);
        lock.serving.store(u32::MAX - 1, Ordering::Relaxed);
        for _ in 0..5 {
            *lock.lock(&mut Order::unlocked()) += 1;
        }
        assert_eq!(*lock.lock(&mut Order::unlocked()), 5);
        assert_eq!(lock.next.load(Ordering::Relaxed), 4);
    }
}
