//! `tactus bench`: what the kernel's paths cost in instructions, how much memory a system takes, how many lines the rooms have.

use crate::arguments::{Bench, BenchKind};
use tactus_machine::failure::{Failure, Outcome};

/// Measures and tells.
pub fn bench(arguments: &Bench) -> Result<Outcome, Failure> {
    match arguments.what {
        BenchKind::Kernel => tactus_benchmarks::kernel(arguments.keep),
        BenchKind::Memory => tactus_benchmarks::memory(arguments.keep),
        BenchKind::Partitions => tactus_benchmarks::partitions(),
        BenchKind::Size => tactus_benchmarks::size(arguments.keep),
    }
}
