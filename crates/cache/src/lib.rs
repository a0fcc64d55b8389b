//! Caches as a model: what every access of every core does to a hierarchy, whom it drives out, and what follows for time.
//!
//! [`Hierarchy`] takes accesses by physical address and counts what hardware counters count. A [`Geometry`] says what the
//! hierarchy is made of.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;

pub mod array;
pub mod coherence;
pub mod events;
pub mod geometry;
pub mod hierarchy;
pub mod lackey;
pub mod line;

pub use coherence::Protocol;
pub use events::{Events, Evictions, Kind, Served};
pub use geometry::{Costs, Geometry, GeometryError, Inclusion, Index, Level, Shape};
pub use hierarchy::Hierarchy;
pub use line::{Owner, State};
