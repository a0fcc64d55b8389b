//! Bugs that tests plant, to show that they are found. A sound structure has [`NONE`].

/// No bug.
pub const NONE: u8 = 0;

/// A heap moves an entry and leaves its index as it was.
pub const STALE_INDEX: u8 = 1;
/// A scan leaves out the last core.
pub const LAST_LEFT_OUT: u8 = 7;
/// A heap puts its last entry in the place of the first and leaves it there.
pub const NOT_SUNK: u8 = 14;
