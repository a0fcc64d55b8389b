//! Virtio devices behind a PCI card that the kernel found: the copy of its configuration space, the memory that it shares
//! with its driver, and a disk.
//!
//! A component drives one such device. All that is unsafe about it stands here.

pub mod configuration;
mod disk;
pub mod memory;

pub use configuration::Configuration;
pub use disk::{DiskError, Transfer, VirtioDisk, MOST_BYTES};
pub use memory::Memory;
