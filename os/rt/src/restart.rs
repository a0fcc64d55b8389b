//! Restarting a component that was stopped, as far as the system file lets this one.

use crate::calls::{self, Error};
use crate::cards;
use crate::clock;
use core::sync::atomic::{AtomicU64, Ordering};

/// The most restarts that a limit may allow within its time.
pub const MOST: usize = 1_000;

/// Why a component was not restarted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestartError {
    /// It has been restarted as often as the system file allows within the time there.
    Limit,
    /// The kernel refuses: the component was not stopped, or this one may not restart it.
    Refused(Error),
}

/// Restarts of one component, and when they were. One thread at a time uses it.
pub struct RestartLimit {
    count: AtomicU64,
    times: [AtomicU64; MOST],
}

impl Default for RestartLimit {
    fn default() -> Self {
        RestartLimit::new()
    }
}

impl RestartLimit {
    /// None yet.
    pub const fn new() -> RestartLimit {
        RestartLimit { count: AtomicU64::new(0), times: [const { AtomicU64::new(0) }; MOST] }
    }

    /// How often it was restarted.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Restarts the component with this number and comes back when it runs again. Each step is the calling thread's work,
    /// and is charged to it; it may be preempted between any two.
    ///
    /// # Errors
    /// [`RestartError::Limit`], [`RestartError::Refused`].
    pub fn restart(&self, component: u16) -> Result<(), RestartError> {
        let card = cards::components().get(usize::from(component)).ok_or(RestartError::Refused(Error::BadComponent))?;
        let (now, count) = (clock::now().as_nanos(), self.count());
        let most = u64::from(card.restarts).clamp(1, MOST as u64);
        let place = &self.times[(count % most) as usize];
        if count >= most && now.saturating_sub(place.load(Ordering::Relaxed)) < card.restart_nanos {
            return Err(RestartError::Limit);
        }
        let mut step = 0;
        loop {
            match calls::restart(component.into(), step) {
                Ok(0) => break,
                Ok(next) => step = next,
                // A thread is still on its way out on another core.
                Err(Error::Busy) => core::hint::spin_loop(),
                Err(error) => return Err(RestartError::Refused(error)),
            }
        }
        place.store(now, Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Relaxed);
        Ok(())
    }
}
