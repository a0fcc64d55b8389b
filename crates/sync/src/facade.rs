//! The atomics, cell and spin hint that the locks are written against: `core` in ordinary builds, loom's models
//! under `--cfg loom`. The shapes are loom's, so that the code above is the same in both.

#[cfg(loom)]
pub(crate) use loom::{
    cell::{MutPtr, UnsafeCell},
    hint::spin_loop,
    sync::atomic::{AtomicU32, Ordering},
};

#[cfg(not(loom))]
pub(crate) use core::{
    hint::spin_loop,
    sync::atomic::{AtomicU32, Ordering},
};

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
