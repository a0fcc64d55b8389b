//! AArch64: the kernel at EL1, components at EL0; GICv3, the virtual timer, a PL011, as the board `virt` of the emulator has them.

pub use super::FrameSource;

pub mod block;
mod boot;
pub mod cpu;
pub mod entry;
pub mod faults;
pub mod floating_point;
mod gic;
pub mod idle;
pub mod interrupts;
pub mod lines;
pub mod loader;
pub mod paging;
pub mod pci;
pub mod protect;
pub mod registers;
pub mod serial;
pub mod slices;
pub mod smp;
pub mod speculation;
pub mod start;
pub mod time;
pub mod timer;
