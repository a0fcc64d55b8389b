//! Events that a component raises by name, for monitors.

use crate::calls::{self, Error};
use tactus_abi::monitors::hash;

/// An event of the component's own: `static READY: Signal = Signal::new("ready");` is `signal camera.ready` in the system file.
#[derive(Clone, Copy, Debug)]
pub struct Signal(u64);

impl Signal {
    /// The event with this name.
    pub const fn new(name: &str) -> Signal {
        Signal(hash(name))
    }

    /// The event happens now.
    ///
    /// # Errors
    /// [`Error::NotAllowed`] where no monitor watches it, which need not concern the component.
    #[inline]
    pub fn raise(self) -> Result<(), Error> {
        calls::signal(self.0)
    }
}
