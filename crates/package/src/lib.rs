//! Packages: programs that come to a system which runs, and whether one may be loaded into a slot of it.
//!
//! A *slot* is a component without a program, whose server the check has counted at its full budget. A *package* is a program with a
//! signed manifest: what tasks it brings, how much memory it takes, what rights it wants. [`slot::judge`] decides whether a package may
//! be loaded into a slot. The same code runs on the host, where a package is made, and in the loader of a running system; so there it
//! needs no heap, takes a bounded number of steps and believes nothing.
#![no_std]
#![forbid(unsafe_code)]

pub mod admission;
pub mod envelope;
pub mod keys;
pub mod load;
pub mod manifest;
pub mod program;
mod refusal;
pub mod slot;
pub mod snapshot;
mod wire;
#[cfg(feature = "write")]
pub mod write;

pub use admission::Unschedulable;
pub use program::ProgramFault;
pub use refusal::Refusal;
pub use wire::Malformed;
