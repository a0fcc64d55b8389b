//! Until when cores that take turns may have long slices: what each core has to notice, and what all threads are told of it.
//!
//! A core notes until when nothing on it has to be noticed; a core that begins a long slice tells all threads until when slices are long.
//! Either may happen between any two steps of the other. So each writes its own word, and only then reads the
//! other's: whoever comes second sees what the first has written, and tells that slices are short.

use crate::facade::{barrier, AtomicBool, AtomicU64, Ordering::Relaxed};

/// What is told when slices are short.
pub const SHORT_SLICES: u64 = 1;

/// Until when nothing on each of up to `CORES` cores has to be noticed.
pub struct SliceLimits<const CORES: usize> {
    limits: [AtomicU64; CORES],
    /// Another core has interrupted it, and it has not looked yet.
    called: [AtomicBool; CORES],
}

impl<const CORES: usize> SliceLimits<CORES> {
    /// Each core has to notice something at once.
    #[cfg(not(any(loom, shuttle)))]
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        SliceLimits { limits: [const { AtomicU64::new(0) }; CORES], called: [const { AtomicBool::new(false) }; CORES] }
    }

    /// Each core has to notice something at once.
    #[cfg(any(loom, shuttle))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        SliceLimits {
            limits: core::array::from_fn(|_| AtomicU64::new(0)),
            called: core::array::from_fn(|_| AtomicBool::new(false)),
        }
    }

    /// Nothing on the core has to be noticed before the instant. `told`: what threads are told.
    pub fn note(&self, core: usize, instant: u64, told: &AtomicU64) {
        self.limits[core % CORES].store(instant, Relaxed);
        barrier();
        if instant < told.load(Relaxed) {
            told.store(SHORT_SLICES, Relaxed);
        }
    }

    /// The core is about to be interrupted by another: slices are short until it has looked.
    pub fn call(&self, core: usize, told: &AtomicU64) {
        self.called[core % CORES].store(true, Relaxed);
        barrier();
        if told.load(Relaxed) > SHORT_SLICES {
            told.store(SHORT_SLICES, Relaxed);
        }
    }

    /// The core was interrupted by another, and looks: there is something to notice until it notes another limit.
    pub fn look(&self, core: usize) {
        self.limits[core % CORES].store(0, Relaxed);
        self.called[core % CORES].store(false, Relaxed);
    }

    /// Until when nothing on the first `cores` cores has to be noticed, less `margin`; 0 if one of them was called.
    pub fn soonest(&self, cores: usize, margin: u64) -> u64 {
        if self.called.iter().any(|it| it.load(Relaxed)) {
            return 0;
        }
        let limits = self.limits[..cores.min(CORES)].iter();
        limits.fold(u64::MAX, |soonest, it| soonest.min(it.load(Relaxed))).saturating_sub(margin)
    }

    /// Tells that slices are long for as long as [`SliceLimits::soonest`] says, and until when that is.
    pub fn tell_long(&self, cores: usize, margin: u64, told: &AtomicU64) -> u64 {
        let until = self.soonest(cores, margin).max(SHORT_SLICES);
        told.store(until, Relaxed);
        barrier();
        // Another core may have noted something sooner, or been called, before it could see what was told.
        if self.soonest(cores, margin) < until {
            told.store(SHORT_SLICES, Relaxed);
        }
        until
    }
}
