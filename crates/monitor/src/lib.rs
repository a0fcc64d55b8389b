//! Monitors: what happens in which order, and how fresh it is, judged event by event.
//!
//! Sources: Cotard, Faucou, Béchennec on monitoring the dataflow of AUTOSAR tasks; Bauer, Leucker, Schallhart, "Runtime
//! verification for LTL and TLTL", TOSEM 2011, for the three values of a verdict.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
mod formula;
#[cfg(feature = "std")]
mod parse;
#[cfg(feature = "std")]
mod property;

#[cfg(feature = "std")]
pub use formula::{Formula, Span};
#[cfg(feature = "std")]
pub use parse::{ParseError, DEEPEST, LONGEST};
#[cfg(feature = "std")]
pub use property::{Bound, Property};
