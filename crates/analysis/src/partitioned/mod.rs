//! Tasks bound to cores or clusters: how they are packed.
//!
//! Packing decides *where*; a test of the bin's own policy decides *whether*. The number of bins is fixed.

mod packing;

pub use packing::{pack, Fit, Order};
