//! Virtio devices behind a PCI card that the kernel found: the copy of its configuration space, the memory that it shares
//! with its driver, a disk and a network card.
//!
//! A component drives one such device. All that is unsafe about it stands here.

mod configuration;
mod disk;
mod memory;
mod network;

pub use configuration::Configuration;
pub use disk::{disk_interrupted, disk_line, DiskError, Transfer, VirtioDisk, MOST_BYTES};
pub use memory::Memory;
pub use network::NetworkCard;
