//! `tactus bench`: what the kernel's paths cost in instructions, how much memory a system takes, how many lines the rooms have.

mod books;
mod figures;
mod follow;
mod guest;
mod history;
mod kernel;
mod memory;
mod page;
mod paths;
mod size;
mod systems;

use crate::arguments::{Bench, BenchKind};
use crate::failure::{Failure, Outcome};

/// Measures and tells.
pub fn bench(arguments: &Bench) -> Result<Outcome, Failure> {
    match arguments.what {
        BenchKind::Kernel => kernel::kernel(arguments.keep),
        BenchKind::Memory => memory::memory(arguments.keep),
        BenchKind::Size => size::size(arguments.keep),
    }
}
