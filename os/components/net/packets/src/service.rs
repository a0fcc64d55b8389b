//! What the study's components ask its root scheduler for beside the services that every scheduler has: words of the service
//! `study`, of which the first says what. Also how urgent everybody is.

/// `(place)`: a word of the run's parameters.
pub const PARAMETER: u64 = 0;
/// `(brand, stream)`: gives the brand an upcall thread, as urgent as the stream's upcalls are in this set-up. With one brand
/// for all streams, `stream` is 0; for the device itself, [`DEVICE`].
pub const SUPPLY: u64 = 1;
/// `()`: ends the run.
pub const END: u64 = 2;
/// The device's own upcall, not a stream's.
pub const DEVICE: u64 = 100;

/// Priorities; lower is more urgent. Those who set up and the background have what threads are given without being
/// asked for: they come last.
pub mod priority {
    /// Who ends the run.
    pub const CLOCK: u16 = 0;
    /// Level 0.
    pub const DEVICE: u16 = 1;
    /// Upcalls for a stream, or for all.
    pub const UPCALL: [u16; 2] = [2, 6];
    /// The tasks that consume the streams.
    pub const TASK: [u16; 2] = [4, 8];
}
