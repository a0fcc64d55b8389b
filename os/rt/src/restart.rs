//! Restarting a component that was stopped, as far as the system file lets this one.

use crate::calls::{self, Error};

/// Why a component was not restarted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RestartError {
    /// It has been restarted as often as the system file allows within the time there.
    Limit,
    /// The kernel refuses: the component was not stopped, or this one may not restart it.
    Refused(Error),
}

/// Restarts the component with this number and comes back when it runs again. Each step is the calling thread's work,
/// and is charged to it; it may be preempted between any two.
///
/// # Errors
/// [`RestartError::Limit`], [`RestartError::Refused`].
pub fn restart(component: u16) -> Result<(), RestartError> {
    let mut step = 0;
    loop {
        match calls::restart(component.into(), step) {
            Ok(0) => return Ok(()),
            Ok(next) => step = next,
            // A thread is still on its way out on another core.
            Err(Error::Busy) => core::hint::spin_loop(),
            Err(Error::Exhausted) => return Err(RestartError::Limit),
            Err(error) => return Err(RestartError::Refused(error)),
        }
    }
}
