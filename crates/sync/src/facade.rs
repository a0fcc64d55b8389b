//! The atomics, cell and spin hint that everything shared between cores is written against: `core` in ordinary builds,
//! on the host and in the kernel's components alike; loom's models under `--cfg loom`; shuttle's under `--cfg shuttle`.
//!
//! The shapes are loom's, so that the code above is the same in all. What Linux's scheduler uses has one counterpart
//! each:
//!
//! | Linux | here |
//! |---|---|
//! | `raw_spin_lock`, `raw_spin_unlock` | [`crate::Lock::lock`], dropping its guard |
//! | `atomic_inc`, `atomic_dec` | `fetch_add`, `fetch_sub` |
//! | `atomic_read` | `load` |
//! | `wmb`, `rmb`, `mb` | [`barrier`], a full barrier in all three places |

#[cfg(loom)]
pub use crate::turns::{AtomicBool, AtomicU32, AtomicU64, Ordering};
#[cfg(loom)]
pub use loom::{hint::spin_loop, sync::atomic::fence};

#[cfg(loom)]
pub(crate) use loom::cell::{MutPtr, UnsafeCell};

#[cfg(shuttle)]
pub use shuttle::{
    hint::spin_loop,
    sync::atomic::{fence, AtomicBool, AtomicU32, AtomicU64, Ordering},
};

#[cfg(not(any(loom, shuttle)))]
pub use core::{
    hint::spin_loop,
    sync::atomic::{fence, AtomicBool, AtomicU32, AtomicU64, Ordering},
};

/// A full barrier: what this core wrote and read before it comes before what it reads and writes after it, for all cores.
#[inline]
pub fn barrier() {
    fence(Ordering::SeqCst);
}

/// What a core does while it waits for another: it tells the processor that it spins. Where the `patience` feature is on,
/// as in test rigs that emulate more cores than there are, it also gives its processor away after a while; a kernel's
/// components never have that feature.
#[derive(Default)]
pub struct Patience {
    #[cfg(all(feature = "patience", not(any(loom, shuttle))))]
    spins: u32,
}

impl Patience {
    /// One more round of waiting.
    #[inline]
    pub fn wait(&mut self) {
        spin_loop();
        #[cfg(all(feature = "patience", not(any(loom, shuttle))))]
        {
            self.spins += 1;
            if self.spins >= 200 {
                std::thread::yield_now();
            }
        }
    }
}

/// A cell whose content is reached through a raw pointer.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(core::cell::UnsafeCell::new(value))
    }
    #[inline]
    pub(crate) fn get_mut(&self) -> MutPtr<T> {
        MutPtr(self.0.get())
    }
}

/// A claim to the content of an [`UnsafeCell`]; loom's counterpart reports claims that overlap.
#[cfg(not(loom))]
pub(crate) struct MutPtr<T>(*mut T);

#[cfg(not(loom))]
impl<T> MutPtr<T> {
    /// # Safety
    /// No other reference to the content may live as long as the one returned.
    #[allow(clippy::mut_from_ref)]
    #[inline]
    pub(crate) unsafe fn deref(&self) -> &mut T {
        // SAFETY: the pointer comes from a live cell, and the caller vouches that the access is exclusive.
        unsafe { &mut *self.0 }
    }
}
