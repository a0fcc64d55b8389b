//! Policies that several scheduler components run, written as the author of a scheduler writes one.

#[cfg(feature = "runtime")]
mod deferrable;
mod fixed_priority;

#[cfg(feature = "runtime")]
pub use deferrable::{Deferrable, SERVERS};
pub use fixed_priority::{FixedPriority, PRIORITIES};
