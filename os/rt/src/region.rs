//! The region that the kernel shares with this component on each core, if it is a scheduler.

use crate::arch::word;
use crate::clock;
use core::fmt;
use core::ptr::{addr_of, addr_of_mut};
use tactus_abi::layout::{REGIONS, REGION_STRIDE};
use tactus_abi::shared::cause::Cause;
use tactus_abi::shared::Region;

/// The core's region. It is there if the component is a scheduler and the core exists.
#[inline(always)]
pub fn of(core: u8) -> *mut Region {
    (REGIONS + u64::from(core) * REGION_STRIDE) as *mut Region
}

/// Takes the events that the kernel posted. The mark that events wait is cleared *first*: one that comes later sets it again,
/// and the next switch fails.
///
/// # Safety
/// A region that is there ([`of`]).
#[inline(always)]
pub unsafe fn take_events(region: *mut Region) -> u64 {
    // SAFETY: the caller promised that it is there. The kernel writes it while this code does not run on the core; each access
    // is one instruction, so nothing that is posted is lost.
    unsafe {
        addr_of_mut!((*region).event_pending).write_volatile(0);
        word::take(addr_of_mut!((*region).events))
    }
}

/// Takes the word that says until when the scheduler had the core.
///
/// # Safety
/// A region that is there ([`of`]).
pub unsafe fn take_left(region: *mut Region) -> u64 {
    // SAFETY: as in `take_events`.
    unsafe { word::take(addr_of_mut!((*region).left)) }
}

/// Takes the lines that have interrupted and release jobs, as bits.
///
/// # Safety
/// A region that is there ([`of`]).
pub unsafe fn take_lines(region: *mut Region) -> u64 {
    // SAFETY: as in `take_events`.
    unsafe { word::take(addr_of_mut!((*region).lines)) }
}

/// What the kernel counted on the region's core, in words.
pub struct Counts(*const Region);

impl Counts {
    /// # Safety
    /// A region that is there ([`of`]), for as long as the value is used.
    pub const unsafe fn of(region: *const Region) -> Counts {
        Counts(region)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let region = self.0;
        // SAFETY: promised by whoever made it; the kernel writes each field in one piece.
        let (dispatches, refused, longest, why) = unsafe {
            (
                addr_of!((*region).dispatches).read_volatile(),
                addr_of!((*region).refused).read_volatile(),
                addr_of!((*region).longest).read_volatile(),
                Cause(addr_of!((*region).longest_cause).read_volatile()),
            )
        };
        let longest = clock::ticks_to_nanos(longest);
        write!(f, "{dispatches} dispatches, {refused} calls refused, longest in the kernel {longest} ns: {why}")
    }
}
