//! Tasks bound to cores or clusters: how they are packed.
//!
//! Packing decides *where*; a test of the bin's own policy decides *whether*. The number of bins is fixed.

mod assign;
pub mod colours;
mod packing;
pub mod semi;

pub use assign::{assign, fits, place, Local, Unplaced};
pub use packing::{pack, Fit, Order};
