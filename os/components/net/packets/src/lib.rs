//! What the components of the interrupt study and their host have in common: parameters, packets, counts. Also the parts
//! of the driver that need no machine: when packets arrive, the timer's registers, bounded queues.
#![no_std]
#![forbid(unsafe_code)]

pub mod counts;
pub mod frame;
pub mod parameters;
pub mod queue;
pub mod service;
pub mod timer;
pub mod wire;

pub use counts::{Counts, Series};
pub use parameters::{Parameters, Setup};
pub use queue::Queue;
pub use wire::Wire;

/// Number of streams of packets; task `i` consumes stream `i`.
pub const STREAMS: usize = 2;
