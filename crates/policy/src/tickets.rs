//! The numbers of decisions that touched what cores share.

use tactus_sync::facade::{AtomicU32, Ordering};
use tactus_sync::Rank;

/// The rank of containers in the order of locks.
pub(crate) struct ContainerRank;

impl Rank for ContainerRank {
    const NUMBER: u32 = 100;
}

/// Gives decisions their numbers: taken inside the lock of what is shared, they tell the order in which that was held.
pub(crate) struct Tickets(AtomicU32);

impl Tickets {
    /// The first one will be 1.
    pub(crate) fn new() -> Tickets {
        Tickets(AtomicU32::new(0))
    }
    #[inline]
    pub(crate) fn next(&self) -> u32 {
        // The lock that the caller holds orders this; among others any order will do.
        self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }
}
