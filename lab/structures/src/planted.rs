//! Bugs that tests plant, to show that rig, loom or shuttle find them. A sound structure has [`NONE`].

pub use tactus_structures::planted::*;

/// A pairing heap takes an entry out and forgets its children but the first.
pub const LOST_CHILDREN: u8 = 2;
/// A red-black tree takes an entry out and does not mend the colours.
pub const UNMENDED_COLOURS: u8 = 3;
/// A bitmap keeps the bit of a level that has become empty.
pub const STALE_BIT: u8 = 4;
/// A calendar keeps its first entry when an earlier one comes.
pub const STALE_FIRST: u8 = 5;
/// A skip list takes an entry out of its lowest row only.
pub const HALF_UNLINKED: u8 = 6;
/// A barrier between what is written and what is read is missing.
pub const MISSING_BARRIER: u8 = 8;
/// A core is taken out of its old level before it is in the new one.
pub const OUT_BEFORE_IN: u8 = 9;
/// A combiner forgets requests that came while it worked: who waits for them waits for ever.
pub const LOST_WAKE_UP: u8 = 10;
/// A message is announced before it is written.
pub const TOLD_TOO_EARLY: u8 = 11;
/// A node of a tournament is decided once only, and a decision that lost is not repeated.
pub const ONE_REFRESH: u8 = 12;
/// Locks are taken against their order.
pub const WRONG_LOCK_ORDER: u8 = 13;
