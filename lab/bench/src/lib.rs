//! `tactus bench`: what the kernel's paths cost in instructions, how much memory a system takes, how many lines the rooms have.

#![forbid(unsafe_code)]

mod bars;
mod beside;
mod books;
mod figures;
mod follow;
mod guest;
mod history;
mod kernel;
mod memory;
mod page;
mod partitions;
mod paths;
mod size;
mod systems;

pub use kernel::kernel;
pub use memory::memory;
pub use partitions::partitions;
pub use size::size;
