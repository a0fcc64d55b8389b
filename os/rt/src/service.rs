//! Services: what a component offers, and what it was granted.

use crate::calls::{self, Error};
use tactus_abi::layout::INFO;
use tactus_abi::shared::{name_text, Info};

/// A name as the image builder reads it.
pub type ServiceName = &'static str;

/// One service in a component's table, as the image builder reads it: address and length of the name, entry.
#[repr(C)]
pub struct Service {
    name: *const u8,
    length: u64,
    // SAFETY: a type only. Nobody here calls it; the kernel lets callers begin there.
    entry: unsafe extern "C" fn(),
}

// SAFETY: never changed, and read by nobody at run time.
unsafe impl Sync for Service {}

impl Service {
    /// An entry of the table.
    pub const fn new(name: ServiceName, entry: unsafe extern "C" fn()) -> Self {
        Service { name: name.as_ptr(), length: name.len() as u64, entry }
    }
}

/// What the component is told about itself.
pub fn info() -> &'static Info {
    // SAFETY: mapped read-only into every component, never written while the system runs.
    unsafe { &*(INFO as *const Info) }
}

/// The right to call a service.
#[derive(Clone, Copy)]
pub struct Grant(u64);

/// Finds a grant by the name that the system file gives it in `uses`. Calling a grant that does not exist fails with
/// [`Error::NotGranted`].
pub fn grant(name: &str) -> Grant {
    let info = info();
    let count = (info.grant_count as usize).min(info.grants.len());
    let place = info.grants[..count].iter().position(|stored| name_text(stored) == name);
    Grant(place.map_or(u64::MAX, |p| p as u64))
}

impl Grant {
    /// Its number, as the kernel's calls take it.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Calls the service: five words there, two back.
    pub fn call(self, words: [u64; 5]) -> Result<[u64; 2], Error> {
        calls::invoke(self.0, words)
    }

    /// Calls a wide service: ten words there, ten back.
    #[inline]
    pub fn call_wide(self, words: [u64; 10]) -> Result<[u64; 10], Error> {
        calls::invoke_wide(self.0, words)
    }
}
