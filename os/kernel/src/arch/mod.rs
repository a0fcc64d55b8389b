//! Everything that is particular to x86-64: start-up, the ways in and out, page tables, local APIC, the other cores.

pub mod acpi;
pub mod apic;
pub mod boot;
pub mod descriptors;
pub mod entry;
pub mod floating_point;
pub mod idle;
pub mod lines;
pub mod loader;
pub mod paging;
pub mod pci;
pub mod port;
pub mod protect;
pub mod registers;
pub mod serial;
pub mod smp;
pub mod speculation;
pub mod time;
