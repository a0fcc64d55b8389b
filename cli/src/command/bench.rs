//! `tactus bench`: what the kernel's paths cost in instructions, how much memory a system takes, how many lines the rooms have;
//! `tactus stress`: systems whose cores execute at the same time.

use crate::arguments::{Bench, BenchKind, Stress};
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

/// Runs systems whose cores execute at the same time.
pub fn stress(arguments: &Stress) -> Result<Outcome, Failure> {
    let Stress { runs, only, planted } = arguments;
    tactus_benchmarks::stress(&tactus_benchmarks::Stress { runs: *runs, only: only.clone(), planted: *planted })
}
