//! What a component has to do with monitors: events that it raises by name, and violations that its jobs handle.

use crate::calls::{self, Error};
use crate::Job;
use tactus_abi::monitors::{hash, NONE};

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

/// A property that was violated, as the job that handles it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The monitor, by its place in the system file.
    pub monitor: u32,
    /// The event that violated the property, by its column in the monitor's table; nothing if one did not come in time.
    pub event: Option<u32>,
    /// The state, a row of the table, in which that found the monitor.
    pub state: u32,
}

impl Job {
    /// A violation for which the file says `on-violation = "run …"` with the job's task, and that no job asked for yet; of each monitor the
    /// last one counts.
    pub fn violation(&self) -> Option<Violation> {
        let [monitor, word] = calls::violation().ok()?;
        let event = (word >> 32) as u32;
        Some(Violation { monitor: monitor as u32, event: (event != NONE).then_some(event), state: word as u32 })
    }
}
