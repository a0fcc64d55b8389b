//! What the study's components ask the root scheduler for, through the one grant that every component has (number 0): the
//! first word says what.

/// The grant.
pub const GRANT: u64 = 0;
/// `(place)`: a word of the run's parameters.
pub const PARAMETER: u64 = 1;
/// `(brand, rank)`: gives the brand an upcall thread, which is as urgent as [`rank`] says.
pub const SUPPLY: u64 = 2;
/// `()`: comes back when the calling thread was woken since it last came back from here.
pub const BLOCK: u64 = 3;
/// `(stream)`: wakes the task that consumes the stream.
pub const WAKE: u64 = 4;
/// `()`: the calling thread is needed no more. Does not come back.
pub const LEAVE: u64 = 5;

/// Who an upcall works for.
pub mod rank {
    /// The stream with this number; of one brand for all streams, 0.
    pub const STREAM: u64 = 0;
    /// The device itself: above everybody.
    pub const DEVICE: u64 = 100;
}
