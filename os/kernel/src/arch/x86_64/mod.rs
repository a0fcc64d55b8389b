//! x86-64: start-up, the ways in and out, page tables, local APIC, the other cores.

pub use super::FrameSource;

mod acpi;
pub mod apic;
pub mod block;
mod boot;
pub mod cpu;
pub mod descriptors;
#[cfg(feature = "destruction")]
pub mod destruction;
pub mod entry;
pub mod faults;
pub mod floating_point;
#[cfg(feature = "destruction")]
mod forgery;
pub mod idle;
pub mod interrupts;
pub mod lines;
pub mod loader;
pub mod paging;
pub mod pci;
mod port;
pub mod protect;
pub mod registers;
pub mod serial;
pub mod slices;
pub mod smp;
pub mod speculation;
pub mod start;
pub mod time;
pub mod timer;
