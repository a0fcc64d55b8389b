//! Caches as a model: what every access of every core does to a hierarchy, whom it drives out, and what follows for time.
//!
//! [`Hierarchy`] takes accesses by physical address and counts what hardware counters count. A [`Geometry`] says what the
//! hierarchy is made of. [`Colours`] are the parts of the shared level that frames of memory can be kept to; [`Frames`] and [`Heap`]
//! give out memory by colour.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;
#[cfg(feature = "files")]
extern crate std;

mod arch;
mod array;
mod below;
pub mod blocks;
pub mod bounds;
pub mod caches;
pub mod choose;
pub mod coherence;
pub mod colours;
pub mod corun;
pub mod events;
pub mod frames;
pub mod geometry;
pub mod heap;
pub mod hierarchy;
pub mod lackey;
mod levels;
pub mod line;
#[cfg(feature = "files")]
pub mod machine;
mod order;
mod private;
pub mod room;
mod set;
mod transfer;

pub use arch::tables;
pub use coherence::Protocol;
pub use colours::{Colour, ColourSet, Colours, ColoursError};
pub use events::{Events, Evictions, Kind, Served};
pub use frames::{FrameError, Frames};
pub use geometry::{Costs, Geometry, GeometryError, Inclusion, Index, Level, Shape};
pub use heap::{Heap, HeapError, HeapMode};
pub use hierarchy::Hierarchy;
pub use line::{Owner, State};
