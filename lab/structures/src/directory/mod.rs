//! Directories of cores: what each core has, as one number, and which core has the greatest.
//!
//! To **push**, a core looks for the core whose running task is the least urgent: each core's number is the urgency of
//! what it runs, and [`IDLE`] if it runs nothing. To **pull**, it looks for the core with the most urgent waiting task:
//! each core's number is that urgency turned round, and [`CLOSED`] if none waits. So one structure serves both, as the
//! same heap does in the source (PRACTISE, section 3.4).
//!
//! Numbers of one core are written by whoever holds that core's ready queue, so never by two at once. What is found is a
//! hint: between finding and using it may have changed, so whoever uses it takes both queues and looks again. When
//! nobody writes, the hint is right, and [`judge`] tells whether it is.

mod array_heap;
mod combining;
mod cpudl;
mod cpupri;
mod delegation;
mod fast_heap;
mod held;
mod marks;
mod overload;
mod scan;
mod skip_list;
mod tournament;
mod values;

pub use combining::FlatCombining;
pub use cpudl::Cpudl;
pub use cpupri::{Cpupri, CpupriLinux};
pub use delegation::Delegation;
pub use fast_heap::FastHeap;
pub use held::{HeldHeap, Locked, LockedHeap, LockedRow};
pub use marks::{Mark, Marks};
pub use overload::Overload;
pub use scan::Scan;
pub use skip_list::SkipList;
pub use tactus_structures::directory::{Held, HeldRow, Number};
pub use tournament::Tournament;

use crate::{Cores, Flaw};
use tactus_sync::{Order, Rank};

/// The number of a core that nothing may be pushed to, or that has nothing to pull.
pub const CLOSED: u64 = 0;

/// The number of a core that runs nothing.
pub const IDLE: u64 = u64::MAX;

/// The rank of the locks within directories. Locks of ready queues are taken before, so theirs is greater.
pub struct DirectoryRank;

impl Rank for DirectoryRank {
    const NUMBER: u32 = 50;
}

/// What all cores share to find one another. `H` is the rank of what the caller holds.
pub trait Directory: Send + Sync + Sized {
    /// What people call it.
    const NAME: &'static str;
    /// Numbers from here on count as one; those below differ.
    const LEVELS: u64 = u64::MAX;

    /// A directory of `cores` cores, 64 at most, all [`CLOSED`].
    fn init(cores: usize) -> Self;

    /// `core` has something else at its head since a task arrived, and its number is now `value`. The caller is the core
    /// `me` and holds the ready queue of `core`.
    fn preempt<H: Rank>(&self, me: usize, order: &mut Order<H>, core: usize, value: u64);

    /// The same, since a task left.
    fn finish<H: Rank>(&self, me: usize, order: &mut Order<H>, core: usize, value: u64) {
        self.preempt(me, order, core, value);
    }

    /// The core among `allowed` with the greatest number, if that is greater than `than`.
    fn find<H: Rank>(&self, me: usize, order: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize>;

    /// The core has been sent an event by a directory that works by messages, or looks by itself.
    fn serve<H: Rank>(&self, _me: usize, _order: &mut Order<H>) {}

    /// Whether the structure is as it must be, and tells of each core what `actual` does. The caller holds all ready
    /// queues.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn check<H: Rank>(&self, order: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw>;
}

/// Whether `found` is what [`Directory::find`] must find when nobody writes.
///
/// # Errors
/// What would have been right.
pub fn judge<D: Directory>(actual: &[u64], than: u64, allowed: Cores, found: Option<usize>) -> Result<(), Flaw> {
    let level = |value: u64| if D::LEVELS == u64::MAX { value } else { value.min(D::LEVELS - 1) };
    let values = actual.iter().enumerate().filter(|(core, _)| allowed.contains(*core)).map(|(_, value)| level(*value));
    let best = values.max().filter(|best| *best > level(than));
    let flaw = |rule, at, expected, found| Err(Flaw { structure: D::NAME, rule, at, expected, found });
    match (best, found) {
        (None, None) => Ok(()),
        (Some(best), None) => flaw("find finds a core if one fits", 0, best, 0),
        (_, Some(core)) if !allowed.contains(core) || core >= actual.len() => {
            flaw("find finds an allowed core only", core, 1, 0)
        }
        (None, Some(core)) => flaw("find finds nothing if nothing fits", core, 0, level(actual[core])),
        (Some(best), Some(core)) if level(actual[core]) != best => {
            flaw("find finds the greatest", core, best, level(actual[core]))
        }
        (Some(_), Some(_)) => Ok(()),
    }
}
