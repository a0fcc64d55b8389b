//! Schedulers of threads that our own components run, written as the author of a scheduler writes one: fixed priorities for the root of
//! services and of measurements, deferrable servers over them for the interrupt study, whose upcalls the kernel begins unasked.

#[cfg(feature = "runtime")]
mod deferrable;
mod fixed_priority;

#[cfg(feature = "runtime")]
pub use deferrable::{Deferrable, SERVERS};
pub use fixed_priority::{FixedPriority, PRIORITIES};
