//! Counters of hardware events: one interface, and the machines behind it.
//!
//! [`Modelled`] reads a page that whoever models the caches of an emulated machine writes; [`crate::arch::counters`] drives those of a processor
//! through its registers; [`NoCounters`] refuses everything. [`own`] gives a component the ones that it may read, [`own_thread`] a thread its own.

mod modelled;

pub use modelled::{changed_of, lines_of, own, own_thread, written_back_of, Modelled, Own, Page};

/// What can be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Instructions.
    Instructions,
    /// Cycles in which the core did not halt.
    Cycles,
    /// Reads, writes and fetches of lines.
    Accesses,
    /// Writes.
    Writes,
    /// Accesses that the core's own caches did not answer.
    PrivateMisses,
    /// Accesses that the shared cache did not answer.
    SharedMisses,
    /// Reads that found the line changed by another core (HITM).
    Changed,
    /// Changed lines that accesses drove out to memory, whoever had changed them.
    WriteBacks,
}

/// Why a counter does not do what it is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// There are no counters here, or the component was granted none.
    NoCounters,
    /// There is no such channel.
    NoChannel,
    /// This channel, or this machine, does not count that.
    NoSuchEvent,
    /// Nothing interrupts when this counter overflows.
    NoInterrupt,
    /// The channel is not configured, or counts already.
    NotNow,
}

/// A unit of counters, of the current core or of a component. A channel counts one event.
pub trait Counters {
    /// How many channels there are; the fixed ones, each with its own event, come last.
    fn channels(&self) -> usize;

    /// Says what a channel counts, and sets it to zero. It does not count yet.
    ///
    /// # Errors
    /// If there is no such channel, or it does not count that.
    fn configure(&mut self, channel: usize, event: Event) -> Result<(), Refused>;

    /// Lets a channel count.
    ///
    /// # Errors
    /// If it is not configured, or counts already.
    fn start(&mut self, channel: usize) -> Result<(), Refused>;

    /// Stops a channel, which keeps its count.
    ///
    /// # Errors
    /// If it does not count.
    fn stop(&mut self, channel: usize) -> Result<(), Refused>;

    /// What a channel has counted since it was configured.
    ///
    /// # Errors
    /// If it is not configured.
    fn read(&self, channel: usize) -> Result<u64, Refused>;

    /// Lets the processor interrupt when a channel, configured and not counting, has counted so much more.
    ///
    /// # Errors
    /// If nothing interrupts here.
    fn interrupt_after(&mut self, channel: usize, many: u64) -> Result<(), Refused>;
}

/// Where there are no counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoCounters;

impl Counters for NoCounters {
    fn channels(&self) -> usize {
        0
    }

    fn configure(&mut self, _: usize, _: Event) -> Result<(), Refused> {
        Err(Refused::NoCounters)
    }

    fn start(&mut self, _: usize) -> Result<(), Refused> {
        Err(Refused::NoCounters)
    }

    fn stop(&mut self, _: usize) -> Result<(), Refused> {
        Err(Refused::NoCounters)
    }

    fn read(&self, _: usize) -> Result<u64, Refused> {
        Err(Refused::NoCounters)
    }

    fn interrupt_after(&mut self, _: usize, _: u64) -> Result<(), Refused> {
        Err(Refused::NoCounters)
    }
}
